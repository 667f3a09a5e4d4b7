/** `svc airdrops send`: transfers a token to every wallet of a CSV, so that nobody has to claim. */
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
    'Each transaction pays as many wallets as fit. Missing token accounts are opened at your cost, which is shown first. Signed transactions are stored in a journal before they are sent (FILE.send.jsonl): run the same command again after any interruption, and nobody is paid twice. Wallets that cannot receive are named and left out. The exit code is 1 until everybody is paid.',
  calls: [create, plan, submit, get, simulate, paths.service.cluster, paths.signer.get],
  args: { file: required(text('CSV of wallets and amounts', { placeholder: 'FILE' })) },
  flags: {
    mint: required(text('Mint of the token', { placeholder: 'MINT' })),
    ...csvFlags,
    journal: text('File that records who was paid (default: FILE.send.jsonl)', { placeholder: 'FILE' }),
    ...sendFlags,
  },
  examples: [
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --dry-run',
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 -k payer.json --out paid.csv',
  ],
  async run({ file, mint, decimals, duplicates, journal, ...flags }, session) {
    if (file === '-') {
      throw usage('the list must be a file: standard input could not be read again after an interruption', {
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
