/**
 * The settings of a claim page: one JSON file of its operator, which is checked before visitors get it as `site.json`.
 */
import { z } from '@hono/zod-openapi'
import { isThisMachine } from '../../platform/urls.ts'
import { MOST_JSON_BYTES } from './site-subject.ts'

/** Languages of the page's texts. */
const PAGE_LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'zh', 'ja'] as const

/** Content types of pictures, by the ending of their file; pages show them in an `img`, where no script runs. */
export const LOGO_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  svg: 'image/svg+xml',
}

const words = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters')

/** A URL that the page may open or request: https, or http on the visitor's own machine; without a user name. */
const url = z
  .string()
  .max(2_048)
  .refine(isPageUrl, 'must be a URL with https, or with http on localhost, and without a user name')

function isPageUrl(text: string): boolean {
  const { protocol, hostname, username, password } = urlOf(text.replace('{signature}', 'signature')) ?? {}
  return (
    (protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname ?? ''))) &&
    username === '' &&
    password === ''
  )
}

function urlOf(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour like #1f5fd0')
const palette = z.strictObject({
  accent: colour.optional(),
  background: colour.optional(),
  surface: colour.optional(),
  text: colour.optional(),
})
const language = z.enum(PAGE_LANGUAGES)

const shape = z.strictObject({
  name: words(64).optional(),
  url: url
    .refine((text) => urlOf(text)?.href === text && text.endsWith('/'), 'must be an address that ends with /')
    .optional(),
  logo: z
    .string()
    .regex(/\.(png|jpe?g|webp|svg)$/i, 'must be the path of a .png, .jpg, .webp or .svg file')
    .max(1_024)
    .optional(),
  colours: z.strictObject({ light: palette.optional(), dark: palette.optional() }).optional(),
  language: language.optional(),
  languages: z.array(language).min(1).max(PAGE_LANGUAGES.length).optional(),
  texts: z.partialRecord(language, z.record(z.string().regex(/^\w{1,64}$/), words(2_000))).optional(),
  rpc: z.array(url).max(8).optional(),
  explorers: z
    .array(
      z.strictObject({
        name: words(32),
        transaction: url.refine((text) => text.includes('{signature}'), 'must have {signature} in it'),
      }),
    )
    .max(8)
    .optional(),
  sponsor: z
    .union([z.literal(''), url.refine((text) => urlOf(text)?.origin === text, 'must be an origin, without a path')], {
      error: 'must be an origin like https://launch.example.com, or "" for that of the page',
    })
    .optional(),
  links: z
    .array(z.strictObject({ text: words(48), url }))
    .max(12)
    .optional(),
})

export type PageSettings = z.output<typeof shape>

/** A fault of the settings, with the dotted path of its field; the path is empty for the whole file. */
interface SettingsFault {
  field: string
  message: string
}

/** Texts of the page in one language, by key. */
export type TextsByKey = Readonly<Record<string, string>>

/**
 * Reads the settings of a claim page. `known` has the page's own texts: unknown keys are faults, and so are
 * placeholders that the page does not fill in.
 */
export function readPageSettings(
  text: string,
  known?: TextsByKey,
): { settings: PageSettings } | { faults: SettingsFault[] } {
  if (Buffer.byteLength(text) > MOST_JSON_BYTES) {
    return { faults: [{ field: '', message: `is larger than ${MOST_JSON_BYTES / 1024} KiB` }] }
  }
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    return { faults: [{ field: '', message: `is not valid JSON: ${(error as Error).message}` }] }
  }
  const read = shape.safeParse(json)
  if (!read.success) {
    const faults = read.error.issues.slice(0, MOST_FAULTS).map((issue) => ({
      field: [...issue.path.map(String), ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].join(
        '.',
      ),
      message: issue.code === 'unrecognized_keys' ? 'is not a setting of a claim page' : issue.message,
    }))
    return { faults }
  }
  const settings = read.data
  const faults = [...colourFaults(settings), ...languageFaults(settings), ...textFaults(settings, known)]
  return faults.length > 0 ? { faults: faults.slice(0, MOST_FAULTS) } : { settings }
}

const MOST_FAULTS = 20

/** Colours that an operator leaves out are the page's own. */
function colourFaults({ colours = {} }: PageSettings): SettingsFault[] {
  return (['light', 'dark'] as const).flatMap((theme) => {
    const given = colours[theme]
    if (given === undefined) return []
    const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    const used: PagePalette = { ...OWN_COLOURS[theme], ...set }
    return lowContrasts(used).map(({ colour: name, message }) => ({ field: `colours.${theme}.${name}`, message }))
  })
}

function languageFaults({ language: first, languages }: PageSettings): SettingsFault[] {
  if (first === undefined || languages === undefined || languages.includes(first)) return []
  return [{ field: 'language', message: `is ${first}, which \`languages\` does not have` }]
}

function textFaults({ texts = {} }: PageSettings, known: TextsByKey | undefined): SettingsFault[] {
  if (known === undefined) return []
  return Object.entries(texts).flatMap(([name, given]) =>
    Object.entries(given).flatMap(([key, value]) => {
      const field = `texts.${name}.${key}`
      const own = Object.hasOwn(known, key) ? known[key] : undefined
      if (own === undefined) return [{ field, message: 'is not a text of the page' }]
      const filled = placeholdersOf(own)
      const strange = placeholdersOf(value).filter((each) => !filled.includes(each))
      return strange.length === 0
        ? []
        : [{ field, message: `has ${strange[0]}, which the page does not fill in there` }]
    }),
  )
}

const placeholdersOf = (text: string): string[] => text.match(/\{\w+\}/g) ?? []

/** The text of `site.json`; the logo is the name of a file beside it. */
export const settingsText = (settings: PageSettings): string => `${JSON.stringify(settings, undefined, 2)}\n`

/** The name that a logo has beside `site.json`. */
export const logoName = (path: string): string => `logo.${(path.split('.').at(-1) ?? '').toLowerCase()}`

/** The colours that an operator may set, each `#rrggbb`. */
interface PagePalette {
  accent: string
  background: string
  surface: string
  text: string
}

/** The page's own colours, used when the operator sets none. */
export const OWN_COLOURS: Readonly<Record<'light' | 'dark', PagePalette>> = {
  light: { accent: '#1f5fd0', background: '#f5f6f8', surface: '#ffffff', text: '#1a1f29' },
  dark: { accent: '#8ab4ff', background: '#0f1319', surface: '#181e27', text: '#e8ecf2' },
}

/** Least contrast of text (success criterion 1.4.3, level AA). */
const TEXT_CONTRAST = 4.5
/** Share of the text's colour in secondary text. */
const MUTED = 0.74

/** Returns the contrast of two colours, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(partsOf(one)), luminance(partsOf(other))].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

interface LowContrast {
  /** The colour that is too close to another one. */
  colour: keyof PagePalette
  message: string
}

/** Returns the pairs of these colours whose contrast is too low. */
export function lowContrasts(palette: PagePalette): LowContrast[] {
  const { accent, background, surface, text } = palette
  const muted = mixed(text, surface, MUTED)
  const pairs = [
    ['text', 'text', text, 'background', background],
    ['text', 'text', text, 'surface', surface],
    ['text', 'secondary text', muted, 'background', background],
    ['text', 'secondary text', muted, 'surface', surface],
    ['accent', 'a link', accent, 'surface', surface],
    ['accent', 'a link', accent, 'background', background],
  ] as const
  return pairs.flatMap(([colour, words, front, ground, back]) => {
    const contrast = contrastOf(front, back)
    if (contrast >= TEXT_CONTRAST) return []
    const shown = Math.floor(contrast * 100) / 100
    const message = `gives ${words} on the ${ground} ${back} a contrast of ${shown}; people need at least ${TEXT_CONTRAST}`
    return [{ colour, message }]
  })
}

const partsOf = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))

function luminance(parts: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = parts.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function mixed(one: string, other: string, share: number): string {
  const [a, b] = [partsOf(one), partsOf(other)]
  const parts = a.map((part, i) => Math.round(part * share + (b[i] ?? 0) * (1 - share)))
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
