/** Lets the filter find operations by any of their words: path, summary, a field, an event type. */
import type { Part, Plugin } from './swagger-ui.ts'

interface Tagged {
  get(key: 'operations'): Operations
  set(key: 'operations', operations: Operations): Tagged
}

interface Operations {
  size: number
  filter(keep: (operation: Part) => boolean): Operations
}

interface Tags {
  map(change: (tagged: Tagged, tag: string) => Tagged): Tags
  filter(keep: (tagged: Tagged) => boolean): Tags
}

/** The operations that contain every word, by their tag. */
function opsFilter(tags: Tags, phrase: string): Tags {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
  return tags
    .map((tagged, tag) =>
      tagged.set(
        'operations',
        tagged.get('operations').filter((operation) => {
          const text = `${tag} ${JSON.stringify(operation.toJS())}`.toLowerCase()
          return words.every((word) => text.includes(word))
        }),
      ),
    )
    .filter((tagged) => tagged.get('operations').size > 0)
}

export const anyWords: Plugin = { fn: { opsFilter } }
