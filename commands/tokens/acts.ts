/** `svc tokens mint`, `burn`, `freeze` and `thaw`: what the holders of a token's authorities do, for one or for a list. */
import { paths } from '../../src/api/paths.ts'
import type { TokenBurning, TokenFreezing, TokenMinting } from '../../src/api/token-acts.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { mintAddress, required, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demandsActs } from '../lists/batches/act.ts'
import { type ColumnInputs, columnFlags, columnInputs } from '../lists/column-flags.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { ALLOW_PROGRAMS, programsField, SIGN_UNSEEN } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, type ActFlags, runAct } from '../signing/run-act.ts'
import { FROM, FROM_WALLETS, JOURNAL, openingLine, parseUnits, RAW } from './act-inputs.ts'
import { actOnList } from './act-lists.ts'

const SENDS = [
  ...ACT_CALLS,
  paths.transactions.batchFetch,
  paths.accounts.get,
  paths.tokens.batchFetch,
  paths.service.cluster,
]

const MINT_ARG = required(mintAddress('Mint of the token, or its symbol'))
const AMOUNT = requiredUnless('from', text('Whole tokens, like 1000 or 0.5', { placeholder: 'AMOUNT' }))
const WALLET = requiredUnless('from', text('Wallet, or one of its token accounts', { placeholder: 'WALLET' }))
const AGAIN = toggle('With --from: do it again for everybody, although the same list was done with another journal', {
  needs: ['from'],
})

const supplyLine = ({ supply, new_supply }: { supply: string; new_supply: string }, decimals: number) =>
  previewLine(
    'supply',
    `${groupedDecimalOf(BigInt(supply), decimals)} → ${groupedDecimalOf(BigInt(new_supply), decimals)}`,
  )

export const mintVerb = verb({
  about: 'Mint more of a token, for one wallet or for a list',
  details:
    'Your keypair must hold the mint authority. The amount goes to you, or to the wallet of --to; a missing token account is opened at your cost.',
  calls: [paths.tokens.mint, ...SENDS],
  args: { mint: MINT_ARG, amount: AMOUNT },
  flags: {
    to: text('Wallet that gets it (default: the signer)', { placeholder: 'ADDRESS' }),
    from: FROM,
    ...columnFlags,
    journal: JOURNAL,
    again: AGAIN,
    sign_unseen: SIGN_UNSEEN,
    trust_journal: TRUST_JOURNAL,
    raw: RAW,
    allow_programs: ALLOW_PROGRAMS,
    ...ACT_SIGNING,
  },
  examples: [
    'svc tokens mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 1000',
    'svc tokens mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --from grants.csv --dry-run',
    'svc tokens mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 0.5 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  async run(
    { mint, amount, to, from, journal, again, sign_unseen, trust_journal, raw, allow_programs, ...flags },
    session,
  ) {
    if (from !== undefined) {
      const list = { act: 'mint' as const, mint, file: from, journal, raw, columns: columnInputs(flags) }
      return actOnList(session, { ...flags, allow_programs, again, sign_unseen, trust_journal }, list)
    }
    const { decimals, units } = await parseUnits(session, mint, { amount: amount ?? '', raw })
    const request = {
      mint,
      amount: String(units),
      ...(to === undefined ? {} : { recipient: to }),
      ...programsField({ allow_programs }),
    }
    return runAct<TokenMinting>(session, flags, {
      what: `Mint ${groupedDecimalOf(units, decimals)} of the token ${mint}${to === undefined ? '' : ` to ${to}`}`,
      call: (body, options) => session.client.tokens.mint({ ...request, ...body }, options),
      demand: (of) => {
        const wallets = [{ wallet: request.recipient ?? of.payer, amount: request.amount }]
        return demandsActs(of, { act: 'mint', mint, decimals, wallets })
      },
      preview: (data) => [supplyLine(data, decimals), ...openingLine(data.rent)],
      show: ({ recipients: [one], new_supply }) => ({
        mint,
        recipient: one?.wallet,
        token_account: one?.token_account,
        amount: String(units),
        supply: new_supply,
      }),
      decimals: { amount: decimals, supply: decimals },
    })
  },
})

export const burnVerb = verb({
  about: 'Burn some of a token for good',
  details:
    'Burns from your own token account. The permanent delegate of a Token-2022 mint can burn what others hold, with --holder.',
  calls: [paths.tokens.burn, ...SENDS],
  args: { mint: MINT_ARG, amount: AMOUNT },
  flags: {
    holder: text('Whose tokens are burned: a wallet, or a token account (default: the signer)', {
      placeholder: 'ADDRESS',
    }),
    from: FROM,
    ...columnFlags,
    journal: JOURNAL,
    again: AGAIN,
    sign_unseen: SIGN_UNSEEN,
    trust_journal: TRUST_JOURNAL,
    raw: RAW,
    ...ACT_SIGNING,
  },
  examples: [
    'svc tokens burn 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 1000',
    'svc tokens burn 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 0.5 -k treasury.json --dry-run',
  ],
  async run({ mint, amount, holder, from, journal, again, sign_unseen, trust_journal, raw, ...flags }, session) {
    if (from !== undefined) {
      const list = { act: 'burn' as const, mint, file: from, journal, raw, columns: columnInputs(flags) }
      return actOnList(session, { ...flags, allow_programs: false, again, sign_unseen, trust_journal }, list)
    }
    const { decimals, units } = await parseUnits(session, mint, { amount: amount ?? '', raw })
    const request = { mint, amount: String(units), ...(holder === undefined ? {} : { holder }) }
    return runAct<TokenBurning>(session, flags, {
      what: `Burn ${groupedDecimalOf(units, decimals)} of the token ${mint}${holder === undefined ? '' : ` that ${holder} holds`} for good`,
      call: (body, options) => session.client.tokens.burn({ ...request, ...body }, options),
      demand: (of) => {
        const wallets = [{ wallet: request.holder ?? of.payer, amount: request.amount }]
        return demandsActs(of, { act: 'burn', mint, decimals, wallets })
      },
      preview: (data) => [supplyLine(data, decimals)],
      show: ({ holders: [one], new_supply }) => ({
        mint,
        holder: one?.wallet,
        token_account: one?.token_account,
        amount: String(units),
        supply: new_supply,
      }),
      decimals: { amount: decimals, supply: decimals },
    })
  },
})

const MEANING = {
  freeze: 'it can neither send nor receive this token until it is thawed',
  thaw: 'it can send and receive this token again',
} as const

interface FreezingInput {
  mint: string
  wallet: string | undefined
  from: string | undefined
  journal: string | undefined
}

/** These lists have no amounts. */
const { amount_column: _, ...walletColumnFlags } = columnFlags

async function runFreezing(
  session: Session,
  act: 'freeze' | 'thaw',
  { mint, wallet: typed, from, journal, ...flags }: FreezingInput & ActFlags & ColumnInputs,
) {
  if (from !== undefined) {
    const own = { ...flags, allow_programs: false, again: true, trust_journal: false }
    return actOnList(session, own, { act, mint, file: from, journal, raw: true, columns: columnInputs(flags) })
  }
  const wallet = typed ?? ''
  const { freeze, thaw } = session.client.tokens
  return runAct<TokenFreezing>(session, flags, {
    what: `${act === 'freeze' ? 'Freeze' : 'Thaw'} the token ${mint} of ${wallet}`,
    call: (body, options) => (act === 'freeze' ? freeze : thaw)({ mint, wallet, ...body }, options),
    demand: (of) => demandsActs(of, { act, mint, wallets: [{ wallet }] }),
    preview({ accounts: [one], rent, warnings = [] }) {
      // Printed with --quiet too, because it decides whether the freeze holds.
      for (const warning of warnings) session.ui.warn(warning)
      return [previewLine('account', `${one?.token_account}: ${MEANING[act]}`), ...openingLine(rent)]
    },
    show: ({ accounts: [one] }) => ({
      mint,
      wallet,
      token_account: one?.token_account,
      state: act === 'freeze' ? 'frozen' : 'thawed',
    }),
  })
}

export const freezeVerb = verb({
  about: 'Freeze the token account of a wallet, or of each wallet of a list',
  details: `Your keypair must hold the freeze authority. Afterwards ${MEANING.freeze}. A wallet may have more token accounts of the same mint: name these instead of the wallet.`,
  calls: [paths.tokens.freeze, ...SENDS],
  args: { mint: MINT_ARG, wallet: WALLET },
  flags: { from: FROM_WALLETS, ...walletColumnFlags, journal: JOURNAL, ...ACT_SIGNING },
  examples: [
    'svc tokens freeze 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
    'svc tokens freeze 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  run: (input, session) => runFreezing(session, 'freeze', input),
})

export const thawVerb = verb({
  about: 'Thaw the frozen token account of a wallet, or of each wallet of a list',
  details:
    'Your keypair must hold the freeze authority. If new accounts of the mint are frozen, a missing one is opened at your cost and thawed.',
  calls: [paths.tokens.thaw, paths.tokens.thawList, ...SENDS],
  args: { mint: MINT_ARG, wallet: WALLET },
  flags: { from: FROM_WALLETS, ...walletColumnFlags, journal: JOURNAL, ...ACT_SIGNING },
  examples: [
    'svc tokens thaw 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
    'svc tokens thaw 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  run: (input, session) => runFreezing(session, 'thaw', input),
})
