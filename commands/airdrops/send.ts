/** `svc airdrops send`: transfers a token to every wallet of a CSV, so that nobody has to claim. */
import { mintAddress, required, text, verb } from '../cli/command.ts'
import { columnInputs, withListNotes } from '../lists/column-flags.ts'
import { chosenUnits, listToken, requireUnits, unitFlags } from '../merkle/list-units.ts'
import { readRecipients } from '../merkle/recipients.ts'
import { usage } from '../ui/problem.ts'
import { SEND_CALLS, sendFlags } from './sending/flags.ts'
import { sendList } from './sending/list.ts'

export const airdropSendVerb = verb({
  about: 'Send a token to every wallet of a CSV, each once',
  details:
    'A CSV needs --decimals, which must be those of the mint, or --raw. Each transaction pays as many wallets as fit. Missing token accounts are opened at your cost, which is shown first. Signed transactions are stored in a journal before they are sent (FILE.send.jsonl): run the same command again after any interruption, and nobody is paid twice. Wallets that cannot receive are named and left out. The exit code is 1 until everybody is paid. With --squads each transaction is a proposal of the vault (journal: FILE.proposals.json).',
  calls: SEND_CALLS,
  args: { file: required(text('CSV of wallets and amounts', { placeholder: 'FILE', existing: true })) },
  flags: {
    mint: required(mintAddress('Mint of the token, or its symbol')),
    ...unitFlags,
    journal: text('File that records who was paid (default: FILE.send.jsonl)', { placeholder: 'FILE' }),
    ...sendFlags,
  },
  examples: [
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --dry-run',
    'svc airdrops send rewards.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 -k payer.json --out paid.csv',
  ],
  async run({ file, mint, decimals, raw, duplicates, journal, ...flags }, session) {
    if (file === '-') {
      throw usage('the list must be a file: standard input could not be read again after an interruption', {
        param: 'FILE',
      })
    }
    const chosen = { decimals, raw }
    const token = await listToken(session, mint)
    requireUnits(chosen, token)
    const units = (name: string) => chosenUnits(session, chosen, { name, token })
    const read = await readRecipients(file, { ...columnInputs(flags), mint, decimals, duplicates, units }, session.ui)
    const outcome = await sendList(session, flags, {
      name: file,
      token,
      list: read.list,
      isRaw: read.hasDecimals && read.decimals === undefined,
      journal: journal ?? `${file}.send.jsonl`,
      proposals: journal ?? `${file}.proposals.json`,
    })
    return withListNotes(outcome, read)
  },
})
