/** `svc tokens`: fungible mints, created and signed locally, and their authorities. */
import { paths } from '../../src/api/paths.ts'
import type { TokenTransfer } from '../../src/api/token-transfers.ts'
import type { TokenCreated } from '../../src/api/tokens.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { groupedDecimalOf, rawUnits } from '../cli/amounts.ts'
import {
  asked,
  choiceOf,
  integer,
  listOf,
  mintAddress,
  type Noun,
  required,
  requiredUnless,
  text,
  toggle,
  verb,
} from '../cli/command.ts'
import { listVerb, recordVerb, rowsOfRecords } from '../cli/reads.ts'
import { demandsTransfers } from '../lists/batches/act.ts'
import { SEND_CALLS } from '../lists/batches/flags.ts'
import { columnFlags, columnInputs } from '../lists/column-flags.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import type { OpenedAccounts } from '../signing/cost-parts.ts'
import { demanding } from '../signing/demand.ts'
import { makesToken } from '../signing/demanded-tokens.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGNING, WALLET_ADDRESS } from '../signing/flags.ts'
import { loadMintKey, mintKeypair } from '../signing/mint-keypair.ts'
import { runSigned } from '../signing/run.ts'
import { ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { usage } from '../ui/problem.ts'
import { warnOfHttp } from '../uri-warnings.ts'
import { FROM, JOURNAL, openingLine, parseUnits, RAW } from './act-inputs.ts'
import { actOnList } from './act-lists.ts'
import { burnVerb, freezeVerb, mintVerb, thawVerb } from './acts.ts'
import { harvestVerb, setExtensionsVerb, withdrawWithheldVerb } from './extension-acts.ts'
import { buyerLines, EXTENSION_FLAGS, extensionsOf } from './extension-flags.ts'
import { grindVerb } from './grind.ts'
import { closeVerb, pauseVerb, resumeVerb } from './mint-acts.ts'
import { passportVerb } from './passport.ts'
import { AUTHORITIES, demandsEnd, setAuthorityVerb } from './set-authority.ts'
import { updateVerb } from './update.ts'

// `svc tokens transfer`: sends a token to one wallet, or to every wallet of a list once.

const transferVerb = verb({
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

// `svc tokens inspect`: everything that the chain shows about a token, with a verdict on each known risk.

const inspectVerb = verb({
  about: 'Read everything that the chain shows about a token, with a verdict on each risk',
  details:
    'Supply, authorities, extensions, holders, locks of Jupiter Lock, and pools of Meteora DBC and DAMM v2, whoever made them. Pools of other programs are not read: liquidity elsewhere is not counted, and their vaults look like holders. Vaults of pools, locks and distributors do not count as holders, except for what a lock pays at any time: what is due counts for its recipient, and what a cancellation returns for its creator. A part that the RPC node does not show is unknown, and the reason is given.',
  calls: [paths.tokens.report],
  args: { mint: required(mintAddress('Mint of the token, or its symbol')) },
  flags: {
    holder_limit: integer('Share of one holder above which it is a risk, 1 to 100 (default 10)', {
      min: 1,
      max: 100,
      placeholder: 'PERCENT',
    }),
    svg: SVG,
  },
  examples: [
    'svc tokens inspect 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens inspect 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --holder-limit 5 --svg holders.svg',
  ],
  async run({ mint, holder_limit, svg }, { client }) {
    const { data } = await client.tokens.report({
      mint,
      ...(holder_limit === undefined ? {} : { holder_limit: String(holder_limit) }),
    })
    const { reportText } = await import('./report-text.ts')
    const notes = data.gaps.map(({ part, reason }) => `${part}: ${reason}`)
    if (svg !== undefined) {
      const [{ writePicture }, { distributionSvg }] = await Promise.all([
        import('../ui/drawing.ts'),
        import('./distribution-picture.ts'),
      ])
      notes.push(...writePicture(svg, distributionSvg(data)))
    }
    const rows = rowsOfRecords(data.risks, ['risk', 'level', 'finding', 'remedy'])
    return { data, rows, text: reportText(data), notes }
  },
})

const demandsToken = demanding('this mint, its supply and its authorities', makesToken)

const STATUSES = ['created', 'mint_authority_revoked', 'freeze_authority_revoked', 'fully_immutable'] as const
const DECIMALS = 6
const { submit, get, simulate } = paths.transactions

export const tokensNoun: Noun = {
  aliases: { 'set-fee': 'set-extensions', 'transfer-authority': 'set-authority' },
  verbs: {
    create: verb({
      about: 'Create a token, its first supply in your wallet',
      details: 'The token has no freeze authority unless you keep it. You stay mint and metadata authority.',
      calls: [paths.tokens.create, simulate, submit, get],
      flags: {
        name: required(text('Name: 1 to 20 letters, digits or spaces')),
        symbol: required(text('Symbol: up to 10 characters')),
        uri: required(text('Where its metadata is', { placeholder: 'URL' })),
        decimals: asked(
          integer(`Decimals, 0 to 9 (default ${DECIMALS})`, { min: 0, max: 9, fallback: String(DECIMALS) }),
        ),
        supply: requiredUnless(
          'initial_supply',
          text('First supply in whole tokens, like 1000000 or 0.5', {
            placeholder: 'AMOUNT',
            conflicts: ['initial_supply'],
          }),
        ),
        initial_supply: text('First supply in raw units, instead of --supply', { placeholder: 'UNITS' }),
        token_program: choiceOf(['spl', 'token2022'], 'Token program (default spl, or token2022 with an extension)', {
          spl: 'the original one',
          token2022: 'Token-2022',
        }),
        revoke_mint_authority: toggle('Give up the mint authority at once: no more can ever be minted'),
        keep_freeze_authority: toggle('Keep the power to freeze what others hold'),
        mint_keypair: mintKeypair('mint'),
        ...EXTENSION_FLAGS,
        ...SIGNING,
      },
      examples: [
        'svc tokens create --name "My Token" --symbol MTK --uri https://example.com/mtk.json --supply 1000000',
        'svc tokens create --name Test --symbol TST --uri https://example.com/t.json --supply 1 --dry-run -k id.json',
        'svc tokens create --name Fee --symbol FEE --uri https://example.com/f.json --supply 1000 --transfer-fee 1%',
        'svc tokens create --name Own --symbol OWN --uri https://example.com/o.json --supply 1 --mint-keypair mint.json',
      ],
      async run(input, session) {
        const { name, symbol, uri, decimals = DECIMALS } = input
        const extensions = extensionsOf(input, decimals)
        const token_program = extensions === undefined ? input.token_program : 'token2022'
        warnOfHttp(session, { '--uri': uri })
        const mintKey = await loadMintKey(input)
        const initial_supply = supplyInput(input.supply, input.initial_supply, decimals)
        const body = {
          name,
          symbol,
          uri,
          decimals,
          initial_supply,
          ...(token_program === undefined ? {} : { token_program }),
          revoke_mint_authority: input.revoke_mint_authority,
          revoke_freeze_authority: !input.keep_freeze_authority,
          ...(extensions === undefined ? {} : { extensions }),
          ...(mintKey === undefined ? {} : { mint: mintKey.address }),
        }
        return runSigned<TokenCreated>(session, input, {
          what: `Create the token ${name} (${symbol})`,
          build: (payer) => session.client.tokens.create({ ...buildFields(input), payer, ...body }),
          demand: (of, { mint }) => demandsToken(of, { mint, ...body, isImmutable: false }),
          preview: () => buyerLines(extensions, decimals),
          secretKeys: ({ required_signers }) => [mintKey?.secretKey ?? required_signers.mint_secret_key],
          opened: ({ mint }) => openedByToken(mint, token_program === 'token2022'),
          show: ({ mint }) => ({ mint }),
          next: ({ mint }) => [
            `svc tokens inspect ${mint}`,
            `svc airdrops launch LIST.csv --mint ${mint} --decimals ${decimals}`,
          ],
        })
      },
    }),
    mint: mintVerb,
    burn: burnVerb,
    freeze: freezeVerb,
    thaw: thawVerb,
    pause: pauseVerb,
    resume: resumeVerb,
    transfer: transferVerb,
    close: closeVerb,
    revoke: verb({
      about: 'Give up an authority of a token, for good',
      details: 'Your keypair must hold it. Nobody can ever get it back.',
      calls: [paths.tokens.revokeAuthority, paths.tokens.get, simulate, submit, get],
      args: {
        mint: required(text('Mint of the token')),
        type: required(choiceOf(AUTHORITIES, 'Authority to give up: mint, freeze or metadata')),
      },
      flags: {
        authority: text(
          'Wallet that signs elsewhere and holds it, the same as --payer; with --build-only',
          WALLET_ADDRESS,
        ),
        ...SIGNING,
      },
      examples: [
        'svc tokens revoke 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY freeze',
        'svc tokens revoke 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY metadata --yes --wait finalized',
      ],
      async run({ mint, type, ...flags }, session) {
        return runSigned(session, flags, {
          what: `Give up the ${type} authority of ${mint} for good`,
          build: (payer) => session.client.tokens.revokeAuthority({ mint, type, payer, ...buildFields(flags) }),
          demand: (of) => demandsEnd(of, { mint, type, new_authority: null }),
          async show(_, confirmed) {
            const status = confirmed === null ? {} : { status: (await session.client.tokens.get({ mint })).data.status }
            return { mint, revoked: type, ...status }
          },
        })
      },
    }),
    update: updateVerb,
    'set-authority': setAuthorityVerb,
    'withdraw-withheld': withdrawWithheldVerb,
    harvest: harvestVerb,
    'set-extensions': setExtensionsVerb,
    list: listVerb({
      about: 'List tokens, newest first',
      at: paths.tokens.list,
      filters: {
        status: choiceOf(STATUSES, 'Only those in this state', {
          fully_immutable: 'without any authority',
        }),
        symbol: text('Only those with this symbol', { placeholder: 'SYMBOL' }),
      },
      examples: ['svc tokens list', 'svc tokens list --status fully_immutable --all', 'svc tokens list --symbol MTK'],
      columns: ['mint', 'status'],
      call: (client, query) => client.tokens.list(query),
    }),
    get: recordVerb({
      about: 'Read one token',
      at: paths.tokens.get,
      args: { mint: required(mintAddress('Mint of the token, or its symbol')) },
      examples: [
        'svc tokens get 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
        'svc tokens get 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --json',
      ],
      call: (client, input) => client.tokens.get(input),
    }),
    inspect: inspectVerb,
    passport: passportVerb,
    grind: grindVerb,
    labels: verb({
      about: 'Show symbol, name and decimals of up to 100 mints at once',
      details:
        'From the metadata of each mint on chain. The maker of a mint chooses its symbol and name, so identify a token by its mint.',
      calls: [paths.tokens.batchFetch],
      args: { mints: required(listOf('Mints of the tokens')) },
      examples: [
        'svc tokens labels So11111111111111111111111111111111111111112 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
        'svc tokens labels So11111111111111111111111111111111111111112 -u mainnet-beta --json',
      ],
      async run({ mints }, { client }) {
        const { data } = await client.tokens.batchFetch({ mints })
        const none = { symbol: null, name: null, decimals: null, token_program: null }
        const rows = mints.map((mint, i) => data.tokens[i] ?? { mint, ...none })
        const missing = mints.filter((_, i) => data.tokens[i] === null)
        return {
          data,
          rows: rowsOfRecords(rows, ['mint', 'symbol', 'name', 'decimals', 'token_program']),
          notes: missing.map((mint) => `There is no token mint at ${mint}`),
        }
      },
    }),
  },
}

/** Returns raw units as digits from whole tokens, or else from raw units. */
export function supplyInput(whole: string | undefined, raw: string | undefined, decimals: number): string {
  const shown = whole === undefined ? '--initial-supply' : '--supply'
  const units = whole === undefined ? rawUnits(raw ?? '', 0, shown) : rawUnits(whole, decimals, shown)
  if (units > MAX_U64)
    throw usage(`${shown} comes to more than ${MAX_U64} raw units, all that a mint can hold`, { param: shown })
  return units.toString()
}

/** SPL tokens have their metadata in an account of Metaplex's, which takes a fee; those of Token-2022 in the mint. */
const openedByToken = (mint: string, isToken2022: boolean): OpenedAccounts => ({
  nameOf(address, isTokenAccount) {
    if (address === mint) return isToken2022 ? 'the mint with its metadata' : 'the mint'
    return isTokenAccount ? 'your token account' : 'the metadata'
  },
  kept: "Metaplex's fee",
})
