/** Shows a decoded transaction on a terminal: its signers, and every instruction with its accounts. */
import type { CommandOutcome } from '../command.ts'
import { previewLine } from './preview.ts'
import type { TransactionContent } from './wallet.ts'

export function contentOutcome(content: TransactionContent): CommandOutcome {
  const { version, signature, fee_payer, recent_blockhash, size, signers, instructions } = content
  const head = [
    ['version', String(version)],
    ['signature', signature ?? 'none yet'],
    ['fee payer', fee_payer],
    ['blockhash', recent_blockhash],
    ['size', `${size} bytes`],
  ] as const
  return {
    data: content,
    text: [
      ...head.map(([name, value]) => previewLine(name, value).slice(2)),
      'signatures',
      ...signers.map(({ address, signature }) => previewLine(signature, address)),
      ...instructions.flatMap(({ program, name, accounts, data }, i) => [
        `instruction ${i}: ${name === null ? program : `${name} (${program})`}`,
        ...accounts.map(
          ({ address, signer, writable }) => `  ${writable ? 'w' : '-'}${signer ? 's' : '-'}  ${address}`,
        ),
        `  data  ${data === '' ? 'none' : data}`,
      ]),
    ].join('\n'),
  }
}
