/** The script of the console: reads changed parts of an open page again, and copies commands. Pages work without it. */

/** Milliseconds between two readings of a page. */
const GAP_MS = 2_000
const CONTROLS = 'input, select, textarea'

let stream: EventSource | undefined
let last = 0
let isPlanned = false

function listen(): void {
  const parts = (document.body.dataset.parts ?? '').split(' ').filter((part) => part !== '')
  if (parts.length === 0 || document.hidden || stream !== undefined) return
  stream = new EventSource(new URL('console/stream', document.baseURI))
  stream.onmessage = ({ data }: MessageEvent<string>) => {
    if (data.split(' ').some((part) => parts.includes(part))) soon()
  }
}

function silence(): void {
  stream?.close()
  stream = undefined
}

function soon(): void {
  if (isPlanned) return
  isPlanned = true
  setTimeout(
    () => {
      isPlanned = false
      last = Date.now()
      void readAgain()
    },
    Math.max(0, last + GAP_MS - Date.now()),
  )
}

/** Replaces the parts that differ. A part in which somebody types or chooses stays as it is. */
async function readAgain(): Promise<void> {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined)
  if (answer === undefined) return
  if (!answer.ok) return silence()
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
    const next = fresh.getElementById(part.id)
    const used = document.activeElement
    if (next === null || (part.contains(used) && used?.matches(CONTROLS))) continue
    for (const [at, opened] of [...part.querySelectorAll('details')].entries()) {
      const same = next.querySelectorAll('details')[at]
      if (same !== undefined) same.open = opened.open
    }
    if (stable(next) === stable(part)) continue
    const place = part.contains(used) ? [...part.querySelectorAll(FOCUSABLE)].indexOf(used as Element) : -1
    part.replaceChildren(...next.childNodes)
    part.querySelectorAll<HTMLElement>(FOCUSABLE)[place]?.focus()
    addButtons(part)
  }
}

const FOCUSABLE = 'a, button, summary, [tabindex]'

/** The part without what differs at each reading: keys of forms, buttons that this script added, drawings. */
function stable(part: HTMLElement): string {
  const copy = part.cloneNode(true) as HTMLElement
  for (const once of copy.querySelectorAll('input[name=once], button.copy')) once.remove()
  for (const chart of copy.querySelectorAll('[data-chart]')) chart.replaceChildren()
  return copy.innerHTML
}

function addButtons(root: ParentNode): void {
  for (const block of root.querySelectorAll<HTMLElement>('pre[data-copy]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', () => {
      void navigator.clipboard?.writeText(block.textContent ?? '').then(() => {
        button.textContent = 'Copied'
      })
    })
    block.after(button)
  }
}

addButtons(document)
listen()
document.addEventListener('visibilitychange', () => (document.hidden ? silence() : listen()))
