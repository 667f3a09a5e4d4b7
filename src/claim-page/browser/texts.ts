/** The texts of the page in the visitor's language; the operator's own texts replace them. */
import type { TextKey, TextValues } from './page-fault.ts'
import { readSiteFile, type SiteSettings } from './site-files.ts'
import english from './texts/en.json' with { type: 'json' }

/** Languages of pages' texts, by their own names. */
const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  pt: 'Português',
  zh: '中文',
  ja: '日本語',
} as const

export interface VisitorTexts {
  language: string
  text(key: TextKey, values?: TextValues): string
  /** An amount of raw units in the number format of the language. */
  tokens(amount: bigint, decimals: number): string
  /** The raw units of an amount that was typed with the separator of the language, or null. */
  amountOf(text: string, decimals: number): bigint | null
  number(value: number): string
  date(seconds: bigint): string
}

/** The texts of a page: those in English, and the languages that it has. */
export interface PageTexts {
  english: Readonly<Record<string, string>>
  languages: readonly string[]
}

export const CLAIM_TEXTS: PageTexts = { english, languages: Object.keys(LANGUAGES) }

const MOST_TEXT_BYTES = 65_536

export function languagesOf({ languages, texts }: SiteSettings, own: PageTexts): { code: string; name: string }[] {
  const offered = languages ?? own.languages
  return offered
    .filter((code) => own.languages.includes(code) || code in texts)
    .map((code) => ({ code, name: LANGUAGES[code as keyof typeof LANGUAGES] ?? code }))
}

/** The first language: the visitor's choice, one that the browser prefers, the operator's, or English. */
export function chosenLanguage(
  settings: SiteSettings,
  wanted: readonly (string | null)[],
  own: PageTexts = CLAIM_TEXTS,
): string {
  const codes = languagesOf(settings, own).map(({ code }) => code)
  const found = wanted.map((each) => each?.slice(0, 2).toLowerCase()).find((each) => each && codes.includes(each))
  const [fallback = 'en'] = codes
  const given = settings.language
  return found ?? (given !== null && codes.includes(given) ? given : codes.includes('en') ? 'en' : fallback)
}

/** Loads the texts of a language; a language without a file is in English, apart from the operator's own texts. */
export async function loadTexts(language: string, settings: SiteSettings, own: PageTexts): Promise<VisitorTexts> {
  let texts: Record<string, unknown> = own.english
  if (language !== 'en' && own.languages.includes(language)) {
    try {
      const bytes = await readSiteFile(`texts/${language}.json`, MOST_TEXT_BYTES)
      texts = { ...own.english, ...JSON.parse(new TextDecoder().decode(bytes)) }
    } catch {
      // The page stays in English rather than without words.
    }
  }
  return visitorTexts(language, { ...texts, ...settings.texts[language] })
}

export function visitorTexts(language: string, texts: Readonly<Record<string, unknown>> = english): VisitorTexts {
  const whole = new Intl.NumberFormat(language)
  const separator = new Intl.NumberFormat(language).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' })
  return {
    language,
    text(key, values = {}) {
      const text = texts[key]
      const template = typeof text === 'string' ? text : ((english as PageTexts['english'])[key] ?? '')
      return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder).trim()
    },
    tokens(amount, decimals) {
      const digits = amount.toString().padStart(decimals + 1, '0')
      const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
      const integer = whole.format(BigInt(digits.slice(0, digits.length - decimals)))
      return decimals === 0 || fraction === '' ? integer : `${integer}${separator ?? '.'}${fraction}`
    },
    amountOf(text, decimals) {
      const [, integer = '', fraction = ''] = /^(\d{1,20})(?:[.,](\d{1,20}))?$/.exec(text.trim()) ?? []
      const isForeign = text.includes(',') && separator !== ','
      if (integer === '' || isForeign || fraction.length > decimals) return null
      return BigInt(integer + fraction.padEnd(decimals, '0'))
    },
    number: (value) => whole.format(value),
    date(seconds) {
      const date = new Date(Number(seconds) * 1000)
      return Number.isNaN(date.getTime()) ? '—' : dates.format(date)
    },
  }
}
