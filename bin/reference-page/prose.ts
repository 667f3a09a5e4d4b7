/** Writes the texts of the document as HTML: paragraphs, and code between backticks. */
import { html } from 'hono/html'

/** A piece of HTML in which every text is escaped. */
export type Markup = ReturnType<typeof html>

/** Stands where there is nothing to show. */
export const NOTHING = html``

/** A text of one line. */
export function inline(text: string): Markup {
  const parts = text.split('`')
  // An odd number of backticks encloses nothing at its end.
  if (parts.length % 2 === 0) return html`${text}`
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

/** A text of paragraphs, which empty lines separate. */
export const paragraphs = (text: string): Markup =>
  html`${text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => html`<p>${inline(part.trim())}</p>`)}`

/** A tag as it stands in an address: `Fee claims` is `tag-fee-claims`. */
export const tagId = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(' ', '-')}`

export const schemaId = (name: string): string => `schema-${name}`

export const errorId = (code: string): string => `error-${code}`
