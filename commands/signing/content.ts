/** Shows a decoded transaction on a terminal: its signers, and every instruction with its accounts. */

import { solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import { previewLine } from './preview.ts'
import type { MessageConfig, TransactionContent } from './wallet.ts'

export function contentOutcome(content: TransactionContent): CommandOutcome {
  const { version, signature, fee_payer, recent_blockhash, size, config, signers, instructions } = content
  const head = [
    ['version', String(version)],
    ['signature', signature ?? 'none yet'],
    ['fee payer', fee_payer],
    ['blockhash', recent_blockhash],
    ['size', `${size} bytes`],
    ...(config === null ? [] : configRows(config)),
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

/** What a message of version 1 sets; Compute Budget instructions have no effect in it. */
const configRows = (config: MessageConfig) =>
  [
    ['priority', `${solOf(BigInt(config.priority_fee ?? 0))} SOL`],
    ['limits', `${config.compute_unit_limit ?? 0} compute units`],
    ['', `${config.loaded_accounts_data_size_limit ?? 0} bytes of accounts`],
    ['', `${config.heap_size ?? 32_768} bytes of heap`],
  ] as const
