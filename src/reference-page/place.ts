/** Keeps the reader's place: the entry that an address names is opened, and the one in sight is marked in the contents. */

/** What shows that the reader has gone on by himself. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const
/** Entries above the place are laid out within so many drawings of the page. */
const SETTLING_FRAMES = 40

/** Shows the place that the address names: what encloses it is opened, and it stays in sight while the page settles. */
function showTarget(): void {
  const target = document.getElementById(location.hash.slice(1))
  // The contents are a sheet over the page, which has no place in it.
  if (target === null || target.id === 'contents') return
  const details = target instanceof HTMLDetailsElement ? target : target.closest('details')
  if (details) details.open = true
  holdInView(target)
}

/** Entries that were out of sight have their height only once they are drawn, which would move the place. */
function holdInView(target: HTMLElement): void {
  const moved = new AbortController()
  const { signal } = moved
  for (const move of MOVES) addEventListener(move, () => moved.abort(), { passive: true, signal })
  let [frames, top] = [0, Number.NaN]
  const hold = () => {
    frames += 1
    if (signal.aborted) return
    if (frames > SETTLING_FRAMES) return moved.abort()
    if (target.getBoundingClientRect().top !== top) target.scrollIntoView()
    top = target.getBoundingClientRect().top
    requestAnimationFrame(hold)
  }
  requestAnimationFrame(hold)
}

/** Marks the link of the entry in sight, and keeps it in sight where the contents stand beside the page. */
function markPlace(contents: HTMLElement): void {
  const links = new Map(
    [...contents.querySelectorAll<HTMLAnchorElement>('a')].map((link) => [link.hash.slice(1), link] as const),
  )
  let marked: HTMLAnchorElement | undefined
  const seen = new IntersectionObserver(
    (changes) => {
      const entry = changes.find(({ isIntersecting }) => isIntersecting)
      const link = entry === undefined ? undefined : links.get(entry.target.id)
      if (link === undefined || link === marked) return
      marked?.removeAttribute('aria-current')
      link.setAttribute('aria-current', 'true')
      marked = link
      const [box, frame] = [link.getBoundingClientRect(), contents.getBoundingClientRect()]
      if (box.top < frame.top || box.bottom > frame.bottom) contents.scrollTop += box.top - frame.top - frame.height / 3
    },
    // A narrow band below the head of the page: one entry at a time is in it.
    { rootMargin: '-20% 0px -75% 0px' },
  )
  for (const entry of document.querySelectorAll('.entry')) seen.observe(entry)
}

export function followPlace(contents: HTMLElement): void {
  showTarget()
  addEventListener('hashchange', showTarget)
  markPlace(contents)
}
