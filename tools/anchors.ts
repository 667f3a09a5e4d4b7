/** Anchors of headings as git hosts make them; the site uses the same, so that one link works on both. */

/** The anchor of a heading's text, without the number that a repeated one gets. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** A page without its blocks of code, whose lines are not Markdown. */
export const withoutCode = (page: string): string => page.replace(/^(```+)[\s\S]*?^\1$/gm, '')

/** What a heading or a link shows: without the marks of code, emphasis and links. */
const shown = (heading: string) => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')

export function anchorsOf(page: string): Set<string> {
  const anchors = new Map<string, number>()
  const all = new Set<string>()
  for (const [, heading] of withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = anchorOf(shown(heading!))
    const count = anchors.get(anchor) ?? 0
    anchors.set(anchor, count + 1)
    all.add(count === 0 ? anchor : `${anchor}-${count}`)
  }
  return all
}
