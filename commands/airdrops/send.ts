/** `svc airdrops send`: transfers from a CSV, for a list that must arrive without a visit. */
import { paths } from '../../src/api/paths.ts'
import { required, text, verb } from '../cli/command.ts'
import { csvFlags, readRecipients, withListNotes } from '../merkle/recipients.ts'
import { usage } from '../ui/problem.ts'
import { sendFlags } from './sending/flags.ts'
import { sendList } from './sending/list.ts'

const { submit, get, simulate } = paths.transactions
const { create, plan } = paths.tokenTransfers

export const airdropSendVerb = verb({
  about: 'Send a token to every wallet of a CSV, each once',
  details:
    'As many wallets a transaction as fit; missing token accounts are opened at your cost, which is told before. What is signed stands in the journal first (FILE.send.jsonl), so that the same command, stopped at any moment, goes on with who is left. Wallets that cannot receive are named and left out, and the exit code is 1 until everybody is paid.',
  calls: [create, plan, submit, get, simulate, paths.service.cluster, paths.signer.get],
  args: { file: required(text('CSV of wallets and amounts', { placeholder: 'FILE' })) },
  flags: {
    mint: required(text('Mint of the token', { placeholder: 'MINT' })),
    ...csvFlags,
    journal: text('File that knows who was paid (default: FILE.send.jsonl)', { placeholder: 'FILE' }),
    ...sendFlags,
  },
  examples: [
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --dry-run',
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 -k payer.json --out paid.csv',
  ],
  async run({ file, mint, decimals, duplicates, journal, ...flags }, session) {
    if (file === '-') {
      throw usage('a list that is sent needs a file: one from standard input could not be read again', {
        param: 'FILE',
      })
    }
    const read = await readRecipients(file, { decimals, duplicates }, session.ui)
    const outcome = await sendList(session, flags, {
      name: file,
      mint,
      list: read.list,
      journal: journal ?? `${file}.send.jsonl`,
      decimals: read.hasDecimals ? decimals : undefined,
    })
    return withListNotes(outcome, read)
  },
})
