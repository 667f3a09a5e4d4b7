/** Writes texts of strangers into XML: reports for CI systems, and pictures. */
import { printable } from './render.ts'

/** Readers of reports cut long texts, and some refuse the file that has one. */
const MAX_TEXT = 4_000

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** The text on one line, for content and attributes; what XML forbids, and what a review does not show, is replaced. */
export function inXml(written: string): string {
  const cut = written.length > MAX_TEXT ? `${written.slice(0, MAX_TEXT)}…` : written
  const line = printable(cut.replace(/\s*\n\s*/g, '; ')).replace(/[\ufffe\uffff]/g, '\ufffd')
  return line.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
