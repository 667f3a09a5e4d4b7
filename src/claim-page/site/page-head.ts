/** The head of a claim page: the title, icon and picture that a link to it shows on other sites. */
import type { PageSettings, TextsByKey } from './site-settings.ts'

interface PageHead {
  settings: PageSettings
  /** The page's own texts in the default language. */
  texts: TextsByKey
  symbol: string
  /** The address of the page, ending with a slash; without it no picture is named, because its address must be absolute. */
  address: string | undefined
}

/** Pictures that sites show beside a link; none shows an SVG. */
const SHOWN = /\.(png|jpe?g|webp)$/
const TITLE = '<title>Claim</title>'
const ICON = '<link rel="icon" href="data:,">'

/** Fills in the head of `index.html`. The logo is a file beside it. */
export function withHead(index: string, { settings, texts, symbol, address }: PageHead): string {
  const { name, logo, language = 'en' } = settings
  const text = (key: string) =>
    (settings.texts?.[language]?.[key] ?? texts[key] ?? '').replaceAll('{symbol}', () => symbol).trim()
  const properties: Record<string, string | undefined> = {
    title: text('title'),
    description: text('intro'),
    type: 'website',
    site_name: name,
    url: address,
    image: address === undefined || logo === undefined || !SHOWN.test(logo) ? undefined : new URL(logo, address).href,
  }
  const tags = Object.entries(properties).flatMap(([key, value]) =>
    value === undefined ? [] : [`<meta property="og:${key}" content="${escaped(value)}">`],
  )
  const title = [text('title'), name].filter(Boolean).join(' · ')
  return index
    .replace(TITLE, () => [`<title>${escaped(title)}</title>`, ...tags].join('\n'))
    .replace(ICON, (none) => (logo === undefined ? none : `<link rel="icon" href="${escaped(logo)}">`))
    .replace('<html lang="en">', `<html lang="${language}">`)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
