/** Draws a recorded terminal session as an SVG that types it, scrolls, and begins again; light and dark. */

const COLUMNS = 80
const ROWS = 25
const FONT_SIZE = 14
const CELL = { width: 8.4, height: 18 }
const MARGIN = 16
const BAR = 34
const WIDTH = COLUMNS * CELL.width + 2 * MARGIN
const HEIGHT = ROWS * CELL.height + BAR + MARGIN

/** Seconds. */
const PACE = { character: 0.045, longestTyping: 1.6, beforeTyping: 0.5, line: 0.05, answer: 0.9, sending: 2.5, end: 6 }

const PROMPT = '$ '
const ANSWER = '│  '

interface Line {
  text: string
  /** Characters in front of what somebody typed; undefined for output. */
  typedFrom?: number
}

/** The lines as a terminal of 80 columns wraps them. */
function linesOf(session: string): Line[] {
  const lines: Line[] = []
  let isAsked = false
  for (const text of session.replace(/\n$/, '').split('\n')) {
    const isAnswer = isAsked && text.startsWith(ANSWER.trimEnd())
    const typedFrom = text.startsWith(PROMPT) ? PROMPT.length : isAnswer ? ANSWER.length : undefined
    if (text.startsWith('◇')) isAsked = true
    if (typedFrom !== undefined) isAsked = false
    for (let from = 0; from === 0 || from < text.length; from += COLUMNS) {
      lines.push({
        text: text.slice(from, from + COLUMNS),
        ...(from === 0 && typedFrom !== undefined && { typedFrom }),
      })
    }
  }
  return lines
}

const round = (value: number) => String(Math.round(value * 100) / 100)
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** One piece of text whose width does not depend on the reader's font. */
function piece(text: string, column: number, row: number, kind: string): string {
  const shown = text.trimEnd()
  const start = shown.length - shown.trimStart().length
  const content = shown.trimStart()
  if (content === '') return ''
  const x = round(MARGIN + (column + start) * CELL.width)
  const y = round((row + 0.75) * CELL.height)
  const width = round(content.length * CELL.width)
  const fit = content.length > 1 ? ` textLength="${width}"` : ''
  return `<text${kind === '' ? '' : ` class="${kind}"`} x="${x}" y="${y}"${fit}>${escaped(content)}</text>`
}

function drawn({ text, typedFrom }: Line, row: number): string {
  if (typedFrom !== undefined) {
    return piece(text.slice(0, typedFrom), 0, row, 'p') + piece(text.slice(typedFrom), typedFrom, row, 't')
  }
  if (/^[◇│]/.test(text)) return piece(text.slice(0, 1), 0, row, 'p') + piece(text.slice(1), 1, row, '')
  const label = /^ *[A-Z][A-Z ]+?(?= {2,}|$)/.exec(text)?.[0] ?? ''
  return piece(label, 0, row, 'p') + piece(text.slice(label.length), label.length, row, '')
}

/** Steps of one property over the whole animation: each value holds until the next one's time. */
function keyframes(
  name: string,
  seconds: number,
  steps: readonly (readonly [at: number, transform: string])[],
): string {
  // Only the last of several values at one time is seen.
  const frames = new Map(steps.map(([at, value]) => [round((100 * at) / seconds), value]))
  return `@keyframes ${name}{${[...frames].map(([at, value]) => `${at}%{transform:${value}}`).join('')}}`
}

function recordedTerminal(session: string, title: string): string {
  const lines = linesOf(session)
  const shown: [at: number, lines: number][] = []
  const typings: { row: number; from: number; length: number; begins: number; ends: number }[] = []
  let at = 0
  lines.forEach(({ text, typedFrom }, row) => {
    if (typedFrom !== undefined) {
      const length = Math.max(0, text.length - typedFrom)
      shown.push([at, row + 1])
      const begins = at + PACE.beforeTyping
      const ends = begins + Math.min(length * PACE.character, PACE.longestTyping)
      if (length > 0) typings.push({ row, from: typedFrom, length, begins, ends })
      at = ends + PACE.answer / (text.startsWith(PROMPT) ? 3 : 2)
    } else {
      at += text === 'signature' ? PACE.sending : PACE.line
      shown.push([at, row + 1])
    }
  })
  const seconds = at + PACE.end
  const scrolled = (count: number) => Math.max(0, count - ROWS)
  const scroll = shown.map(([time, count]) => [time, `translateY(${-scrolled(count) * CELL.height}px)`] as const)
  // Lines that are not yet shown are below the cover's upper edge.
  const cover = shown.map(([time, count]) => [time, `translateY(${Math.min(count, ROWS) * CELL.height}px)`] as const)
  const changes = (steps: typeof scroll) => steps.filter(([, value], n) => value !== steps[n - 1]?.[1])
  const last = scroll.at(-1)![1]
  const typing = typings.map(({ row, from, length, begins, ends }, n) => {
    const [start, end] = [begins, ends].map((time) => round((100 * time) / seconds))
    const rest = { x: round(MARGIN + from * CELL.width), width: round((length + 1) * CELL.width) }
    return {
      shape: `<rect class="b y${n}" x="${rest.x}" y="${row * CELL.height}" width="${rest.width}" height="${CELL.height}"/>`,
      style: `@keyframes y${n}{0%,${start}%{transform:none;animation-timing-function:steps(${length})}${end}%,100%{transform:translateX(${rest.width}px)}}.y${n}{animation-name:y${n};transform:translateX(${rest.width}px)}`,
    }
  })
  const style = [
    'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text)}',
    'svg{--back:#fff;--edge:#d0d7de;--text:#1f2328;--dim:#59636e;--typed:#0550ae}',
    '@media(prefers-color-scheme:dark){svg{--back:#0d1117;--edge:#3d444d;--text:#e6edf3;--dim:#9198a1;--typed:#79c0ff}}',
    '.b{fill:var(--back)}.e{fill:var(--back);stroke:var(--edge)}text.p,text.h{fill:var(--dim)}text.t{fill:var(--typed);font-weight:600}',
    `.s,.c,[class^="b y"]{animation:${round(seconds)}s step-end infinite}.s{animation-name:s;transform:${last}}.c{animation-name:c;transform:translateY(${ROWS * CELL.height}px)}`,
    keyframes('s', seconds, changes(scroll)),
    keyframes('c', seconds, changes(cover)),
    ...typing.map((one) => one.style),
    // Who asked for less motion sees the end.
    '@media(prefers-reduced-motion:reduce){.s,.c,[class^="b y"]{animation:none}}',
  ].join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}" font-size="${FONT_SIZE}">
<title>${escaped(title)}</title>
<style>${style}</style>
<rect class="e" x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
<text class="h" x="${WIDTH / 2}" y="22" text-anchor="middle">${escaped(title)}</text>
<svg x="1" y="${BAR}" width="${WIDTH - 2}" height="${ROWS * CELL.height}"><g class="s">
${lines.map((line, row) => drawn(line, row)).join('\n')}
${typing.map((one) => one.shape).join('')}
</g><rect class="b c" width="100%" height="${ROWS * CELL.height}"/></svg>
</svg>
`
}

/** The launch in the session of docs/first-launch.md, from its command to the drawing of the curve, as a picture. */
export function firstLaunchPicture(page: string): string {
  const session = /```console\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  const [begin, end] = ['pools create', 'pools swap'].map((command) => session.indexOf(`${PROMPT}svc ${command}`))
  if (begin! < 0 || end! < begin!) throw new Error('docs/first-launch.md has no session with a launch and a swap')
  return recordedTerminal(session.slice(begin, end), 'svc pools create: a first launch, recorded')
}
