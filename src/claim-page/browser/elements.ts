/** Makes elements of the page; all that is shown is set as text, so that no file and no chain can bring markup. */

type Child = Node | string | null

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
  element.append(...children.filter((child) => child !== null))
  return element
}

/** The element of the page with this id. Throws an Error where the page has none. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no #${id}`)
  return element
}

/** Shows the children, or hides the element where there are none. */
export function fill(element: HTMLElement, children: readonly Child[]): void {
  element.replaceChildren(...children.filter((child) => child !== null))
  element.hidden = children.length === 0
}

export const button = (text: string, onClick: () => void, className = ''): HTMLButtonElement =>
  make('button', { text, class: className, attributes: { type: 'button' }, onClick })

/** A link that opens in a new tab and tells the other page nothing of this one. */
export const outsideLink = (text: string, url: string): HTMLAnchorElement =>
  make('a', { text, attributes: { href: url, target: '_blank', rel: 'noopener noreferrer' } })

/** An address in a shape that people compare: its ends; all of it is in the title and for screen readers. */
export const shortAddress = (address: string): HTMLElement =>
  make('span', {
    class: 'address',
    text: `${address.slice(0, 4)}…${address.slice(-4)}`,
    attributes: { title: address },
  })
