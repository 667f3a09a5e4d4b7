/** Shows this service's OpenAPI document in Swagger UI, with the code samples of each operation. */

// Shows `x-codeSamples` of an operation below its parameters, one language at a time.

interface Sample {
  label: string
  source: string
}

/** The language that was chosen last; operations open with it from then on. */
let chosen = 'curl'

function samplesOf(operation: Part | undefined): Sample[] {
  const samples = operation?.get('x-codeSamples') as Part | undefined
  return (samples?.toJS() as Sample[] | undefined) ?? []
}

function Samples({ samples, system }: { samples: Sample[]; system: System }) {
  const { createElement: h, useState } = system.React
  const [label, setLabel] = useState(chosen)
  const shown = samples.find((sample) => sample.label === label) ?? samples[0]
  if (shown === undefined) return null
  const choose = (next: string) => {
    chosen = next
    setLabel(next)
  }
  const buttons = samples.map((sample) =>
    h(
      'button',
      {
        key: sample.label,
        type: 'button',
        className: 'btn',
        'aria-pressed': sample === shown,
        onClick: () => choose(sample.label),
      },
      sample.label,
    ),
  )
  const code = system.getComponent('HighlightCode', true)
  return h(
    'section',
    { className: 'code-samples', 'aria-label': 'Code samples' },
    h(
      'div',
      { className: 'opblock-section-header' },
      h('h4', null, 'Code samples'),
      h('div', { role: 'group', 'aria-label': 'Language' }, ...buttons),
    ),
    h(code, { language: shown.label === 'TypeScript' ? 'javascript' : 'bash', canCopy: true }, shown.source),
  )
}

const codeSamples: Plugin = {
  wrapComponents: {
    parameters: (Original, system) => (props: { operation?: Part }) => {
      const { createElement: h, Fragment } = system.React
      const samples = samplesOf(props.operation)
      return h(Fragment, null, h(Original, { ...props }), h(Samples, { samples, system }))
    },
  },
}

// Lets the filter find operations by any of their words: path, summary, a field, an event type.

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

const anyWords: Plugin = { fn: { opsFilter } }

// Changes small parts of Swagger UI for keyboards, screen readers and addresses of our own.

const readable: Plugin = {
  wrapComponents: {
    // The row of an operation is already a button, and a button cannot contain a link.
    DeepLink:
      (_, { React }) =>
      ({ text }: { text: unknown }) =>
        React.createElement('span', null, text),
    TextArea:
      (Original, { React }) =>
      (props: object) =>
        React.createElement(Original, { 'aria-label': 'Request body', ...props }),
  },
  statePlugins: {
    layout: {
      wrapActions: {
        // All other addresses are anchors of the description.
        parseDeepLinkHash: (original) => (hash: string) => (hash.startsWith('#/') ? original(hash) : undefined),
      },
    },
  },
}

declare const SwaggerUIBundle: SwaggerUi

const dark = matchMedia('(prefers-color-scheme: dark)')
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
followColours()
dark.addEventListener('change', followColours)

const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  plugins: [codeSamples, anyWords, readable],
})

// Swagger UI reads the address once, and only addresses of operations such as `#/Pools/getPools`.
addEventListener('hashchange', () => ui.getSystem().layoutActions.parseDeepLinkHash(location.hash))
// An anchor of the description, such as `#error-not_found`, exists once the document has been read.
const drawn = new MutationObserver(() => {
  if (document.getElementById(location.hash.slice(1)) === null) return
  drawn.disconnect()
  location.replace(location.hash)
})
drawn.observe(document.body, { childList: true, subtree: true })

/** A part of the document as an Immutable.js object. */
interface Part {
  get(key: string): unknown
  toJS(): unknown
}

type Element = unknown
type Props = Record<string, unknown>
type Component = (props: never) => Element

interface System {
  React: {
    createElement(component: string | Component, props: Props | null, ...children: Element[]): Element
    useState<T>(first: T): [T, (next: T) => void]
    Fragment: Component
  }
  getComponent(name: string, container?: boolean): Component
  layoutActions: { parseDeepLinkHash(hash: string): void }
}

type Action = (value: string) => unknown

/** A plugin's changes: wrapped components and actions, replaced functions. */
interface Plugin {
  wrapComponents?: Record<string, (original: Component, system: System) => Component>
  fn?: Record<string, unknown>
  statePlugins?: Record<string, { wrapActions: Record<string, (original: Action) => Action> }>
}

interface Options {
  url: string
  dom_id: string
  deepLinking: boolean
  docExpansion: 'list' | 'none'
  filter: boolean
  plugins: Plugin[]
}

type SwaggerUi = (options: Options) => { getSystem(): System }
