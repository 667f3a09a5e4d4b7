/** `svc tokens withdraw-withheld`, `harvest` and `set-extensions`: what the authorities of Token-2022 extensions do. */
import { percentText } from '../../src/api/extension-meanings.ts'
import { paths } from '../../src/api/paths.ts'
import type { ExtensionUpdate, FeeHarvest, WithheldWithdrawal } from '../../src/api/token-extensions.ts'
import type { Client } from '../../src/client.ts'
import { calendarMoment, momentFault } from '../../src/platform/calendar.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { groupedDecimalOf, rawUnits } from '../cli/amounts.ts'
import { choiceOf, listOf, mintAddress, required, text, verb } from '../cli/command.ts'
import { type Call, demanding, opens } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, programsField } from '../signing/flags.ts'
import { previewLine, previewLines } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { mintState } from '../signing/token-state.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { basisPointsOf, EXTENSION_FLAGS, rateOf } from './extension-flags.ts'

/** A request, without who pays and signs. */
type Sent<V extends keyof Client['tokens']> = Omit<Parameters<Client['tokens'][V]>[0], 'payer'>

const of2022 = (call: string, fields: Call['fields']): Call => ({ program: TOKEN_2022_PROGRAM, call, fields })

/** Those that withhold nothing are left out of the transaction. Without a list only what their fees amount to moves. */
const sourcesOf = (accounts: readonly string[] | undefined): Call['fields'] =>
  accounts === undefined
    ? {}
    : { sourceAccounts: (list) => list.split(',').every((account) => accounts.includes(account)) }

/** The fees arrive in the recipient's token account and nowhere else, whatever accounts they come from. */
export const demandsWithdrawal = demanding(
  'moves transfer fees of this token to this wallet, and nothing else',
  async (of, { mint, recipient = of.payer, accounts }: Sent<'withdrawWithheld'>) => {
    const taken = { mint, feeRecipient: await of.accounts(mint, recipient), authority: of.payer }
    return [
      opens(of.payer, recipient, mint),
      { ...of2022('withdrawWithheldTokensFromMint', taken), least: 0 },
      { ...of2022('withdrawWithheldTokensFromAccounts', { ...taken, ...sourcesOf(accounts) }), least: 0 },
    ]
  },
)

const demandsHarvest = demanding(
  'moves transfer fees into the mint of this token, and nothing else',
  (_, { mint, accounts }: Sent<'harvestFees'>) => [
    of2022('harvestWithheldTokensToMint', { mint, ...sourcesOf(accounts) }),
  ],
)

const demandsUpdates = demanding(
  'sets these values of this token, and nothing else',
  ({ payer: authority }, request: Sent<'updateExtensions'>) => {
    const { mint, transfer_fee: fee, interest_rate: interest, scaled_amount: scaled, transfer_hook: hook } = request
    const { default_frozen: frozen } = request
    const sets = (isAsked: boolean, call: string, fields: Call['fields']) =>
      isAsked ? [of2022(call, { mint, authority, ...fields })] : []
    return [
      ...sets(fee !== undefined, 'setTransferFee', {
        transferFeeBasisPoints: fee?.basis_points ?? null,
        maximumFee: fee?.maximum_fee ?? null,
      }),
      ...sets(interest !== undefined, 'updateInterestBearingConfigRate', { newRate: interest?.basis_points ?? null }),
      ...sets(scaled !== undefined, 'updateMultiplier', {
        newMultiplier: String(Number(scaled?.multiplier)),
        newMultiplierTimestamp: secondsOf(scaled?.effective_at),
      }),
      ...sets(frozen !== undefined, 'updateDefaultAccountState', { accountState: frozen ? 'frozen' : 'initialized' }),
      ...sets(hook !== undefined, 'updateTransferHook', { programId: hook?.program ?? null }),
    ]
  },
)

const SENDS = [...ACT_CALLS, paths.accounts.get]

const MINT_ARG = required(mintAddress('Mint of the token, or its symbol'))
const ACCOUNTS = listOf('Token accounts with withheld fees (default: svc finds those with the most)', {
  placeholder: 'ACCOUNT,…',
  field: 'accounts',
})

type Found = Pick<Extract<FeeHarvest, { mode: 'unsigned' }>, 'accounts' | 'remaining_accounts' | 'remaining_amount'>

const foundLines = ({ accounts, remaining_accounts, remaining_amount }: Found, decimals: number) => [
  previewLine('accounts', `${counted(accounts.length, 'token account')} with withheld fees`),
  ...(remaining_accounts === 0
    ? []
    : [
        previewLine(
          '',
          `${remaining_accounts} more with ${groupedDecimalOf(BigInt(remaining_amount), decimals)} do not fit: run it again after this`,
        ),
      ]),
]

export const withdrawWithheldVerb = verb({
  about: 'Withdraw the transfer fees of a token',
  details:
    'Your keypair must hold the withdraw authority. It takes the fees in the mint, and those that token accounts withhold: as many accounts as fit. The node must list the accounts of the token, or name them with --accounts.',
  calls: [paths.tokens.withdrawWithheld, ...SENDS],
  args: { mint: MINT_ARG },
  flags: {
    to: text('Wallet that gets them (default: the signer)', { placeholder: 'ADDRESS', field: 'recipient' }),
    accounts: ACCOUNTS,
    allow_programs: ALLOW_PROGRAMS,
    ...ACT_SIGNING,
  },
  examples: [
    'svc tokens withdraw-withheld 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens withdraw-withheld 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  async run({ mint, to, accounts, allow_programs, ...flags }, session) {
    const { decimals } = await mintState(session, mint)
    const request = {
      mint,
      ...(to === undefined ? {} : { recipient: to }),
      ...(accounts === undefined ? {} : { accounts }),
      ...programsField({ allow_programs }),
    }
    return runAct<WithheldWithdrawal>(session, flags, {
      what: `Withdraw the transfer fees of the token ${mint}${to === undefined ? '' : ` to ${to}`}`,
      call: (body, options) => session.client.tokens.withdrawWithheld({ ...request, ...body }, options),
      demand: (of) => demandsWithdrawal(of, request),
      preview: (data) => [
        previewLine('fees', `${groupedDecimalOf(BigInt(data.amount), decimals)} to ${data.recipient}`),
        ...foundLines(data, decimals),
      ],
      show: ({ recipient, amount, from_mint, accounts: from, remaining_accounts, remaining_amount }) => ({
        mint,
        recipient,
        amount,
        from_mint,
        accounts: from.length,
        remaining_accounts,
        remaining_amount,
      }),
      decimals: { amount: decimals, from_mint: decimals, remaining_amount: decimals },
    })
  },
})

export const harvestVerb = verb({
  about: 'Move withheld transfer fees from token accounts into the mint',
  details:
    'Anybody can do it, at the cost of the fee. The withdraw authority then takes them from the mint (`svc tokens withdraw-withheld`).',
  calls: [paths.tokens.harvestFees, ...SENDS],
  args: { mint: MINT_ARG },
  flags: { accounts: ACCOUNTS, ...ACT_SIGNING },
  examples: [
    'svc tokens harvest 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens harvest 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run -k id.json',
  ],
  async run({ mint, accounts, ...flags }, session) {
    const { decimals } = await mintState(session, mint)
    const request = { mint, ...(accounts === undefined ? {} : { accounts }) }
    return runAct<FeeHarvest>(session, flags, {
      what: `Move the withheld transfer fees of ${mint} into the mint`,
      call: (body, options) => session.client.tokens.harvestFees({ ...request, ...body }, options),
      demand: (of) => demandsHarvest(of, request),
      preview: (data) => [
        previewLine('fees', `${groupedDecimalOf(BigInt(data.amount), decimals)} into the mint`),
        ...foundLines(data, decimals),
      ],
      show: ({ amount, accounts: from, remaining_accounts, remaining_amount }) => ({
        mint,
        amount,
        accounts: from.length,
        remaining_accounts,
        remaining_amount,
      }),
      decimals: { amount: decimals, remaining_amount: decimals },
    })
  },
})

const feeText = ({ basis_points, maximum_fee }: { basis_points: number; maximum_fee: string }, decimals: number) =>
  `${percentText(basis_points)}${BigInt(maximum_fee) === MAX_U64 ? '' : `, at most ${groupedDecimalOf(BigInt(maximum_fee), decimals)}`}`

const { transfer_fee, max_fee, interest, multiplier } = EXTENSION_FLAGS

export const setExtensionsVerb = verb({
  about: "Change the settings of a token's extensions",
  details:
    'Your keypair must hold the authority of each: `svc tokens get` shows them. Only extensions that the token was created with can be set. A new transfer fee is in force two epochs later.',
  calls: [paths.tokens.updateExtensions, ...SENDS],
  args: { mint: MINT_ARG },
  flags: {
    transfer_fee,
    max_fee,
    interest,
    multiplier,
    at: text('With --multiplier: when it comes into force, such as 2030-01-01T00:00:00Z', {
      placeholder: 'TIME',
      needs: ['multiplier'],
    }),
    default_frozen: choiceOf(['yes', 'no'], 'Whether new token accounts begin frozen; the freeze authority signs'),
    transfer_hook: text('Program that each transfer calls, or none', { placeholder: 'PROGRAM' }),
    ...ACT_SIGNING,
  },
  needs: [['transfer_fee', 'interest', 'multiplier', 'default_frozen', 'transfer_hook']],
  examples: [
    'svc tokens set-extensions 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --transfer-fee 0.5%',
    'svc tokens set-extensions 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --multiplier 1.5 --at 2030-01-01T00:00:00Z --dry-run',
  ],
  async run({ mint, transfer_fee: fee, max_fee: most, interest: rate, multiplier: factor, ...input }, session) {
    const { at: typedAt, default_frozen: frozen, transfer_hook: hook, ...flags } = input
    const at = typedAt === undefined ? undefined : timeOf(typedAt)
    const { decimals } = await mintState(session, mint)
    const request = {
      mint,
      ...(fee === undefined
        ? {}
        : {
            transfer_fee: {
              basis_points: basisPointsOf(fee, '--transfer-fee', { least: 0, most: 10_000 }),
              maximum_fee: String(most === undefined ? MAX_U64 : rawUnits(most, decimals, '--max-fee')),
            },
          }),
      ...(rate === undefined ? {} : { interest_rate: { basis_points: rateOf(rate, '--interest') } }),
      ...(frozen === undefined ? {} : { default_frozen: frozen === 'yes' }),
      ...(hook === undefined ? {} : { transfer_hook: { program: hook === 'none' ? null : hook } }),
      ...(factor === undefined
        ? {}
        : { scaled_amount: { multiplier: factor, ...(at === undefined ? {} : { effective_at: at }) } }),
    }
    return runAct<ExtensionUpdate>(session, flags, {
      what: `Change the extensions of the token ${mint}`,
      call: (body, options) => session.client.tokens.updateExtensions({ ...request, ...body }, options),
      demand: (of) => demandsUpdates(of, request),
      preview: ({ transfer_fee: change }) => [
        ...(change === null
          ? []
          : [
              previewLine('fee now', feeText(change.present, decimals)),
              previewLine(
                'then',
                `${feeText(change.next, decimals)} from epoch ${change.next.from_epoch} on; this is epoch ${change.present_epoch}`,
              ),
            ]),
        ...previewLines({
          interest: rate !== undefined && `${percentText(rateOf(rate, '--interest'))} a year`,
          multiplier: factor !== undefined && `${factor} ${at === undefined ? 'at once' : `from ${at} on`}`,
          accounts: frozen !== undefined && `new ones begin ${frozen === 'yes' ? 'frozen' : 'usable'}`,
          hook: hook !== undefined && (hook === 'none' ? 'no program any more' : hook),
        }),
      ],
      show: ({ authority, transfer_fee: change }) => ({
        mint,
        authority,
        ...(change === null ? {} : { fee_from_epoch: change.next.from_epoch }),
      }),
    })
  },
})

/** ISO 8601 of a time that was typed; throws a usage problem for another text. */
function timeOf(typed: string): string {
  const at = calendarMoment(typed)
  if (at !== null && at > 0) return new Date(at).toISOString()
  throw usage(`--at ${momentFault(typed, 'a time such as 2030-01-01T00:00:00Z')}`, { param: '--at' })
}

/** Unix seconds; 0 is at once. */
const secondsOf = (at: string | undefined): string =>
  at === undefined ? '0' : String(Math.floor(Date.parse(at) / 1000))
