/** Finds entries of the page by the words that are typed: paths, names, fields, commands, errors. */

interface Entry {
  id: string
  kind: string
  title: string
  about: string
  /** Lower case: the name, what stands in the head of the entry, and everything. */
  name: string
  head: string
  text: string
}

const MOST = 30

/** All entries of the page; read when somebody begins to search. */
function readEntries(): Entry[] {
  return [...document.querySelectorAll<HTMLElement>('.entry')].map((element) => {
    const { kind = '', title = '' } = element.dataset
    const about = element.querySelector('.summary')?.textContent ?? ''
    return {
      id: element.id,
      kind,
      title,
      about,
      name: title.toLowerCase(),
      head: `${kind} ${title} ${element.id} ${about}`.toLowerCase(),
      text: (element.textContent ?? '').toLowerCase(),
    }
  })
}

/** Lower is better; null where a word is nowhere in the entry. */
function rank(entry: Entry, words: readonly string[]): number | null {
  if (words.every((word) => entry.name.includes(word))) return entry.name === words.join(' ') ? 0 : 1
  if (words.every((word) => entry.head.includes(word))) return 2
  if (words.every((word) => entry.text.includes(word))) return 3
  return null
}

/** The best entries for the words, in the order of the page among equals. */
function find(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return entries
    .map((entry) => ({ entry, rank: rank(entry, words) }))
    .filter((found): found is { entry: Entry; rank: number } => found.rank !== null)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ entry }) => entry)
}

/** Makes the box search: arrows choose, Enter goes there, Escape closes; `/` anywhere on the page begins. */
export function offerSearch(input: HTMLInputElement, list: HTMLElement): void {
  let entries: Entry[] | undefined
  let options: HTMLElement[] = []
  let chosen = -1
  const choose = (at: number) => {
    chosen = at
    for (const [i, option] of options.entries()) option.setAttribute('aria-selected', String(i === at))
    const option = options[at]
    option?.scrollIntoView({ block: 'nearest' })
    if (option === undefined) input.removeAttribute('aria-activedescendant')
    else input.setAttribute('aria-activedescendant', option.id)
  }
  const close = () => {
    list.hidden = true
    input.setAttribute('aria-expanded', 'false')
    choose(-1)
  }
  const show = () => {
    entries ??= readEntries()
    const found = find(entries, input.value)
    options = found.map(optionOf)
    const nothing = input.value.trim() !== '' && found.length === 0
    list.replaceChildren(...(nothing ? [message(`Nothing is named “${input.value.trim()}”`)] : options))
    list.hidden = options.length === 0 && !nothing
    input.setAttribute('aria-expanded', String(options.length > 0))
    choose(options.length > 0 ? 0 : -1)
  }
  const go = (option: HTMLElement | undefined) => {
    if (option?.dataset.target === undefined) return
    input.value = ''
    close()
    input.blur()
    location.hash = option.dataset.target
  }
  input.disabled = false
  input.addEventListener('input', show)
  input.addEventListener('focus', () => {
    if (input.value !== '') show()
  })
  input.addEventListener('blur', close)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      if (options.length > 0) choose((chosen + step + options.length) % options.length)
    } else if (event.key === 'Enter') go(options[chosen])
    else if (event.key === 'Escape') {
      input.value = ''
      close()
    }
  })
  // The press would take the focus from the box, and close the list before the click.
  list.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', (event) => {
    if (event.target instanceof Element) go(event.target.closest<HTMLElement>('[data-target]') ?? undefined)
  })
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
  })
}

function optionOf({ id, kind, title, about }: Entry, at: number): HTMLElement {
  const option = document.createElement('li')
  option.id = `result-${at}`
  option.className = 'result'
  option.role = 'option'
  option.dataset.target = id
  const words = [
    [`method ${kind.toLowerCase()}`, kind],
    ['found', title],
    ['about', about],
  ] as const
  for (const [name, text] of words) {
    const part = document.createElement('span')
    part.className = name
    part.textContent = text
    option.append(part, ' ')
  }
  return option
}

function message(text: string): HTMLElement {
  const item = document.createElement('li')
  item.className = 'result'
  item.role = 'option'
  item.ariaDisabled = 'true'
  item.textContent = text
  return item
}
