/** The parts of Swagger UI that the page uses; its package has no types. */

/** A part of the document as an Immutable.js object. */
export interface Part {
  get(key: string): unknown
  toJS(): unknown
}

type Element = unknown
type Props = Record<string, unknown>
type Component = (props: never) => Element

export interface System {
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
export interface Plugin {
  wrapComponents?: Record<string, (original: Component, system: System) => Component>
  fn?: Record<string, unknown>
  statePlugins?: Record<string, { wrapActions: Record<string, (original: Action) => Action> }>
}

export interface Options {
  url: string
  dom_id: string
  deepLinking: boolean
  docExpansion: 'list' | 'none'
  filter: boolean
  plugins: Plugin[]
}

export type SwaggerUi = (options: Options) => { getSystem(): System }
