/** The head of a claim page or a raise's page: the title, icon and picture that a link to it shows on other sites. */
import type { PageSettings, TextsByKey } from './site-settings.ts'

export interface PageHead {
  settings: PageSettings
  /** The page's own texts in the default language. */
  texts: TextsByKey
  /** Keys of the texts of the head; those of the claim page unless given. */
  keys?: { title: string; intro: string }
  symbol: string
  /** The address of the page, ending with a slash; without it no picture is named, because its address must be absolute. */
  address: string | undefined
}

/** Pictures that sites show beside a link; none shows an SVG. */
const SHOWN = /\.(png|jpe?g|webp)$/
const TITLE = /<title>\w+<\/title>/
const CLAIM_KEYS = { title: 'title', intro: 'intro' }
const ICON = '<link rel="icon" href="data:,">'

/** Fills in the head of `index.html`. The logo is a file beside it. */
export function withHead(index: string, { settings, texts, keys = CLAIM_KEYS, symbol, address }: PageHead): string {
  const { name, logo, language = 'en' } = settings
  const text = (key: string) =>
    (settings.texts?.[language]?.[key] ?? texts[key] ?? '').replaceAll('{symbol}', () => symbol).trim()
  const properties: Record<string, string | undefined> = {
    title: text(keys.title),
    description: text(keys.intro),
    type: 'website',
    site_name: name,
    url: address,
    image: address === undefined || logo === undefined || !SHOWN.test(logo) ? undefined : new URL(logo, address).href,
  }
  const tags = Object.entries(properties).flatMap(([key, value]) =>
    value === undefined ? [] : [`<meta property="og:${key}" content="${escaped(value)}">`],
  )
  const title = [text(keys.title), name].filter(Boolean).join(' · ')
  return index
    .replace(TITLE, () => [`<title>${escaped(title)}</title>`, ...tags].join('\n'))
    .replace(ICON, (none) => (logo === undefined ? none : `<link rel="icon" href="${escaped(logo)}">`))
    .replace('<html lang="en">', `<html lang="${language}">`)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
