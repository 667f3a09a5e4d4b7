/** `svc webhooks verify`: checks whether a delivery was signed with a secret, and why it is not valid. */

import { required, text, verb } from '../cli/command.ts'
import { readBytes, readText } from '../ui/files.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { readSecrets } from './secret.ts'
import { checkSignatures, SIGNATURE_HEADERS } from './signature.ts'

const HEADER_VALUE = { placeholder: 'VALUE' }

export const verifyDelivery = verb({
  about: 'Check the signature of a delivery read from standard input',
  details:
    'The body must be the bytes as they came. Headers come from a file of `Name: value` lines or from flags; every signature among them must be right, and at most 5 minutes old. Exit 0 is valid, 1 is not.',
  flags: {
    secret_file: required(
      text('File (0600) with the signing secret; during a rotation every one that still signs, one per line', {
        placeholder: 'FILE',
      }),
    ),
    headers_file: text('File with the headers as they came, a line each', { placeholder: 'FILE' }),
    signature: text('Value of X-Service-Signature', HEADER_VALUE),
    webhook_id: text('Value of webhook-id', HEADER_VALUE),
    webhook_timestamp: text('Value of webhook-timestamp', HEADER_VALUE),
    webhook_signature: text('Value of webhook-signature', HEADER_VALUE),
  },
  examples: [
    'svc webhooks verify --secret-file secret --headers-file headers.txt < body.json',
    'svc webhooks verify --secret-file secret --signature "t=1795334400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd" < body.json',
  ],
  async run({ secret_file, headers_file, signature, webhook_id, webhook_timestamp, webhook_signature }, { clock }) {
    const secrets = readSecrets(secret_file)
    const headers = {
      ...(headers_file === undefined ? {} : headersInText(await readText(headers_file))),
      ...headerField(SIGNATURE_HEADERS.service, signature),
      ...headerField(SIGNATURE_HEADERS.id, webhook_id),
      ...headerField(SIGNATURE_HEADERS.timestamp, webhook_timestamp),
      ...headerField(SIGNATURE_HEADERS.standard, webhook_signature),
    }
    if (headers[SIGNATURE_HEADERS.service] === undefined && headers[SIGNATURE_HEADERS.standard] === undefined) {
      throw usage('there is no signature to check', {
        next: 'give --headers-file, --signature, or --webhook-signature with --webhook-id and --webhook-timestamp',
      })
    }
    const body = await readBytes('-')
    const checks = checkSignatures(headers, body, secrets, clock.now())
    const valid = checks.every((check) => check.valid)
    const reason = checks.find((check) => !check.valid)?.reason ?? null
    const lines = checks.map(({ header, valid, reason, age_seconds }) =>
      valid ? `valid: ${header}, ${counted(age_seconds ?? 0, 'second')} old` : `invalid: ${header}: ${reason}`,
    )
    return {
      data: { valid, reason, signatures: checks },
      rows: {
        columns: ['header', 'valid', 'reason'],
        rows: checks.map(({ header, valid, reason }) => [header, valid, reason]),
      },
      text: lines.join('\n'),
      exitCode: valid ? EXIT.done : EXIT.failed,
    }
  },
})

const headerField = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value })

/** Parses `Name: value` lines as tools print them; other lines, such as `POST /hooks HTTP/1.1`, are skipped. */
function headersInText(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).map((line) => /^[>< ]*([A-Za-z0-9-]+):\s*(.*?)\s*$/.exec(line) ?? [])
  return Object.fromEntries(
    lines.flatMap(([, name, value]) => (name && value !== undefined ? [[name.toLowerCase(), value]] : [])),
  )
}
