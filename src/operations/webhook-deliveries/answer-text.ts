/** What is stored of a receiver's answer: its beginning as printable text, without secrets. */
import { printable } from '../../platform/printable.ts'
import { withoutSignatures } from '../../platform/webhook-signature.ts'
import type { Redactor } from '../../settings/redaction.ts'

/** Most characters; the answer to a delivery that was taken says little. */
const OF_FAILURE = 2_048
const OF_SUCCESS = 256

/** Null for an empty answer. The text is shortened after its secrets are masked, so that no part of one remains. */
export function answerText(
  bytes: Uint8Array | undefined,
  { isFailure, redactor }: { isFailure: boolean; redactor: Redactor },
): string | null {
  if (bytes === undefined || bytes.byteLength === 0) return null
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n').replaceAll('\t', ' ')
  const bare = withoutSignatures(redactor.text(text)).replace(/\b(Bearer|Basic) +[^\s"']+/gi, '$1 ***')
  const clean = bare.split('\n').map(printable).join('\n')
  return clean.slice(0, isFailure ? OF_FAILURE : OF_SUCCESS).replace(/\p{Surrogate}$/u, '')
}
