/** Creates elements of the page. Everything is set as text, so that neither files nor the chain can inject markup. */

/** What is null or false is left out. */
type Child = Node | string | null | false

interface ElementOptions {
  class?: string
  text?: string
  attributes?: Readonly<Record<string, string>>
  onClick?: (event: Event) => void
}

export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  { class: className, text, attributes = {}, onClick }: ElementOptions = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag)
  if (className !== undefined) element.className = className
  if (text !== undefined) element.textContent = text
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  if (onClick) element.addEventListener('click', onClick)
  element.append(...shownOf(children))
  return element
}

const shownOf = (children: readonly Child[]) => children.filter((child) => child !== null && child !== false)

type Facts = readonly (readonly [label: string, value: string | null | undefined])[]

/** Labels and their values; a row without a value is left out. */
export const factsOf = (rows: Facts, list = 'facts', value = ''): HTMLElement => {
  const pairs = rows.map(([label, text]) =>
    text == null ? [] : [make('dt', { text: label }), make('dd', { class: value, text })],
  )
  return make('dl', { class: list }, pairs.flat())
}
/** The same of what is compared letter by letter. */
export const codesOf = (rows: Facts): HTMLElement => factsOf(rows, '', 'code')

/** The element of the page with this id. Throws an Error if the page has none. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no #${id}`)
  return element
}

/** Shows the children, or hides the element if there are none. */
export function fill(element: HTMLElement, children: readonly Child[]): void {
  element.replaceChildren(...shownOf(children))
  element.hidden = children.length === 0
}

export const button = (text: string, onClick: () => void, className = ''): HTMLButtonElement =>
  make('button', { text, class: className, attributes: { type: 'button' }, onClick })

/** A link that opens in a new tab without opener or referrer. */
export const outsideLink = (text: string, url: string): HTMLAnchorElement =>
  make('a', { text, attributes: { href: url, target: '_blank', rel: 'noopener noreferrer' } })

/** An address shortened to its ends, which people compare; the title and screen readers have all of it. */
export const shortAddress = (address: string): HTMLElement =>
  make('span', {
    class: 'address',
    text: `${address.slice(0, 4)}…${address.slice(-4)}`,
    attributes: { title: address },
  })
