/** `svc tokens transfer`: sends a token to one wallet, or to every wallet of a list once. */
import type { TokenTransfer } from '../../src/api/token-transfers.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { mintAddress, required, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import { demandsTransfers } from '../lists/batches/act.ts'
import { SEND_CALLS } from '../lists/batches/flags.ts'
import { columnFlags, columnInputs } from '../lists/column-flags.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { ALLOW_PROGRAMS, programsField } from '../signing/flags.ts'
import { ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { FROM, JOURNAL, openingLine, parseUnits, RAW } from './act-inputs.ts'
import { actOnList } from './act-lists.ts'

export const transferVerb = verb({
  about: 'Send a token to a wallet, or to every wallet of a CSV',
  details:
    'A missing token account is opened at your cost. With --from each wallet of the list is paid once, as by `svc airdrops send`: run the same command again after any interruption.',
  calls: [...SEND_CALLS],
  args: {
    mint: required(mintAddress('Mint of the token, or its symbol')),
    wallet: requiredUnless('from', text('Wallet that gets it', { placeholder: 'WALLET' })),
    amount: requiredUnless('from', text('Whole tokens, like 1000 or 0.5', { placeholder: 'AMOUNT' })),
  },
  flags: {
    from: FROM,
    ...columnFlags,
    journal: JOURNAL,
    raw: RAW,
    allow_programs: ALLOW_PROGRAMS,
    accept_transfer_fee: toggle('Send a token with a transfer fee, so that less arrives'),
    again: toggle('With --from: pay everybody again, although the same list was sent with another journal', {
      needs: ['from'],
    }),
    trust_journal: TRUST_JOURNAL,
    ...ACT_SIGNING,
  },
  examples: [
    'svc tokens transfer 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 100',
    'svc tokens transfer 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --from rewards.csv --dry-run',
  ],
  async run({ mint, wallet, amount, from, journal, raw, again, trust_journal, ...flags }, session) {
    const { allow_programs, accept_transfer_fee, ...signing } = flags
    if (from !== undefined) {
      const list = { act: 'send' as const, mint, file: from, journal, raw, columns: columnInputs(flags) }
      return actOnList(session, { ...flags, again, trust_journal }, list)
    }
    const { decimals, units } = await parseUnits(session, mint, { amount: amount ?? '', raw })
    const recipient = wallet ?? ''
    const request = {
      mint,
      accept_transfer_fee,
      ...programsField({ allow_programs }),
      recipients: [{ wallet: recipient, amount: String(units) }],
    }
    return runAct<TokenTransfer>(session, signing, {
      what: `Send ${groupedDecimalOf(units, decimals)} of the token ${mint} to ${recipient}`,
      call: (body, options) => session.client.tokenTransfers.create({ ...request, ...body }, options),
      demand: (of) => demandsTransfers(of, { ...request, decimals }),
      preview: ({ rent }) => openingLine(rent),
      show: ({ total, recipients: [one] }) => ({
        mint,
        recipient,
        token_account: one?.token_account,
        amount: total,
      }),
      decimals: { amount: decimals },
    })
  },
})
