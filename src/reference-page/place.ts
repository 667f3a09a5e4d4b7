/** Keeps the reader's place: the entry that an address names is opened, and the one in sight is marked in the contents. */

/** Opens what encloses the named place, so that it can be seen. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const details = target instanceof HTMLDetailsElement ? target : target?.closest('details')
  if (details) details.open = true
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
  openTarget()
  addEventListener('hashchange', openTarget)
  markPlace(contents)
}
