/**
 * Recognizes things that are mistaken for a list: other kinds of files, error values of spreadsheets, invisible
 * characters.
 */
import { UNPRINTABLE } from '../platform/printable.ts'

const SIGNATURES: readonly [bytes: string, kind: string, wayOut: string][] = [
  ['1f8b', 'packed with gzip', 'unpack it first'],
  ['28b52ffd', 'packed with zstd', 'unpack it first'],
  ['425a68', 'packed with bzip2', 'unpack it first'],
  ['504b0304', 'an Excel workbook or another ZIP file', 'save the sheet as "CSV UTF-8"'],
  ['504b0506', 'an empty ZIP file', 'save the sheet as "CSV UTF-8"'],
  ['d0cf11e0', 'an old Excel workbook', 'save the sheet as "CSV UTF-8"'],
  ['25504446', 'a PDF', 'export the list as CSV'],
  ['fffe', 'UTF-16', 'save it as "CSV UTF-8"'],
  ['feff', 'UTF-16', 'save it as "CSV UTF-8"'],
]

/** Says what kind of file this is if it is not text in UTF-8, and how to get such a file; undefined for text. */
export function fileKindFault(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 64))
  const hex = start.toString('hex')
  for (const [signature, kind, wayOut] of SIGNATURES) {
    if (hex.startsWith(signature)) return `the file is ${kind}; ${wayOut}`
  }
  if (/^\s*<(?:!doctype|html|head|body|\?xml|table)\b/i.test(start.toString('latin1').replace(/^\xef\xbb\xbf/, '')))
    return 'the file is a web page (HTML), perhaps a login page; download the list itself as CSV'
  if (start.includes(0)) return 'the file is not text in UTF-8 (it has zero bytes); save it as "CSV UTF-8"'
  return undefined
}

/** Error values as spreadsheets write them, in English and in other languages. */
const ERROR_VALUES = new Set(
  'N/A NAME? VALUE! REF! NULL! NUM! DIV/0! SPILL! CALC! FIELD! BLOCKED! UNKNOWN! CONNECT! EXTERNAL! BUSY! PYTHON! ERROR! GETTING_DATA TIMEOUT! NV BEZUG! WERT! ZAHL! ÜBERLAUF! VALEUR! NOM? NOMBRE! PROPAGATION! ¿NOMBRE? ¡VALOR! ¡REF! ¡NULO! ¡NUM! ¡DIV/0! VALOR! NOME? NULO! NÚM! ND RIF! VALORE! NULLO! ССЫЛКА! ЗНАЧ! ИМЯ? Н/Д ЧИСЛО! ДЕЛ/0! ПУСТО!'.split(
    ' ',
  ),
)

/**
 * Says that a cell holds a spreadsheet's error value instead of the result of its formula; undefined if not.
 */
export function errorValueFault(text: string): string | undefined {
  if (!text.startsWith('#')) return undefined
  const isError = ERROR_VALUES.has(text.slice(1).toUpperCase()) || /^#{3,}$/.test(text)
  return isError ? `"${text}" is an error value of the spreadsheet; fix its formula there` : undefined
}

const STRANGE_NAMES: Readonly<Record<number, string>> = {
  160: 'no-break space',
  173: 'soft hyphen',
  8203: 'zero-width space',
  8204: 'zero-width non-joiner',
  8205: 'zero-width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8239: 'narrow no-break space',
  8288: 'word joiner',
  65279: 'byte order mark',
}

const UNSEEN = new RegExp(`(?![ \\p{Cc}])(?:\\p{Zs}|${UNPRINTABLE.source})`, 'u')

/** The first character of a text that is invisible or looks like a space; undefined without one. */
export function unseenCharacter(text: string): { index: number; name: string } | undefined {
  const found = UNSEEN.exec(text)
  if (found === null) return undefined
  const code = found[0].codePointAt(0) ?? 0
  const shown = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  return { index: found.index, name: `a ${STRANGE_NAMES[code] ?? 'character that cannot be seen'} (${shown})` }
}
