/**
 * Contrast of colours as WCAG 2.2 defines it, and the pairs of a claim page's colours that people must be able to
 * distinguish.
 */

/** The colours that an operator may set, each `#rrggbb`. */
export interface PagePalette {
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

export interface LowContrast {
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
