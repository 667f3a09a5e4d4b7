/** Writes texts of strangers into XML, for CI reports and pictures. */
import { printable } from './render.ts'

/** Readers of reports cut long texts, and some refuse the file. */
const MAX_TEXT = 4_000

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** The text on one line, for content and attributes; characters that XML forbids or that are invisible are replaced. */
export function inXml(written: string): string {
  const cut = written.length > MAX_TEXT ? `${written.slice(0, MAX_TEXT)}…` : written
  const line = printable(cut.replace(/\s*\n\s*/g, '; ')).replace(/[\ufffe\uffff]/g, '\ufffd')
  return line.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
