/**
 * Every act on a token, on both real token programs: with its authority present, missing, given to the vault of a
 * multisig, and given up. What the vault holds, its members do through Squads.
 */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { type OnChainToken, readTokenState } from '../src/chain/programs/tokens/index.ts'
import { initializeMetadata, setUpdateAuthority } from '../src/chain/programs/tokens/metadata-extension.ts'
import { createMetadata, freezeMetadata, handMetadata } from '../src/chain/programs/tokens/metaplex.ts'
import type { LocalChain } from '../src/localnet/types.ts'
import { MEMO_PROGRAM } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../src/solana/token-authorities.ts'
import { withheldFee } from '../src/solana/token-extensions.ts'
import { addressOf, createMint, type Extension, give, type Mint, run, tokenAccountOf, unitsIn } from './support/gold.ts'
import { hasProgram } from './support/programs.ts'
import { inSoak, oneIn } from './support/runs.ts'
import { type Service, sharedService } from './support/service.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from './support/treasury.ts'
import { signWith } from './support/wallets.ts'

const PROGRAM_IDS = { 'SPL Token': spl.TOKEN_PROGRAM_ID, 'Token-2022': spl.TOKEN_2022_PROGRAM_ID }
type Program = keyof typeof PROGRAM_IDS
const TEXTS = { name: 'My Token', symbol: 'MTK', uri: 'https://example.com/token.json' }
const FRIEND = Keypair.generate().publicKey
const { ExtensionType } = spl

/** Every extension that gives an authority; interest and a multiplier exclude each other. */
const EXTENSIONS: Extension[] = [
  {
    type: ExtensionType.TransferFeeConfig,
    initialize: (at, id, by) => spl.createInitializeTransferFeeConfigInstruction(at, by, by, 1_000, 99n, id),
  },
  {
    type: ExtensionType.MintCloseAuthority,
    initialize: (at, id, by) => spl.createInitializeMintCloseAuthorityInstruction(at, by, id),
  },
  {
    type: ExtensionType.PermanentDelegate,
    initialize: (at, id, by) => spl.createInitializePermanentDelegateInstruction(at, by, id),
  },
  {
    type: ExtensionType.TransferHook,
    initialize: (at, id, by) => spl.createInitializeTransferHookInstruction(at, by, PublicKey.default, id),
  },
  {
    type: ExtensionType.MetadataPointer,
    initialize: (at, id, by) => spl.createInitializeMetadataPointerInstruction(at, by, at, id),
  },
  {
    type: ExtensionType.PausableConfig,
    initialize: (at, id, by) => spl.createInitializePausableConfigInstruction(at, by, id),
  },
  {
    type: ExtensionType.DefaultAccountState,
    initialize: (at, id) => spl.createInitializeDefaultAccountStateInstruction(at, spl.AccountState.Initialized, id),
  },
]
const INTEREST: Extension = {
  type: ExtensionType.InterestBearingConfig,
  initialize: (at, id, by) => spl.createInitializeInterestBearingMintInstruction(at, by, 1, id),
}
const SCALED: Extension = {
  type: ExtensionType.ScaledUiAmountConfig,
  initialize: (at, id, by) => spl.createInitializeScaledUiAmountConfigInstruction(at, by, 2, id),
}

interface Scene {
  chain: LocalChain
  service: Service
  token: Mint
  mint: string
  /** Holds every authority of the mint at first. */
  authority: Keypair
  /** A wallet with 100 raw units. */
  holder: Keypair
  /** Who is to act: the authority, or the vault. */
  acting: PublicKey
  send(instructions: TransactionInstruction[], ...signers: Keypair[]): void
  state(): Promise<OnChainToken>
}

type Request = [method: string, path: string, body?: object]
type Refusal = [param: string, message: RegExp]

interface Act {
  /** Which authority signs; an owner's act needs none of the mint, and the harvest none at all. */
  by: TokenAuthorityType | 'owner' | 'anybody'
  /** Whether it needs an extension although SPL Token has its authority. */
  isExtended?: boolean
  isScaled?: boolean
  /** What has to be there before. */
  prepare?(at: Scene): void
  request(at: Scene): Request
  /** Whether it happened. */
  isDone(at: Scene): unknown
  /** What a mint without the authority answers; nothing for a mint that cannot be without. */
  missing?: Refusal
  /** What a wallet hears if the vault holds the authority; by default, the vault's name. */
  elsewhere?: Refusal
  /** What the last holder hears afterwards; nothing if it still can, or never could give it up. */
  gone?: Refusal
  stillCan?: boolean
}

const heldBy = ({ chain, token }: Scene, owner: PublicKey) => unitsIn(chain, tokenAccountOf(token, owner))
const stateOfHolder = ({ chain, token, holder }: Scene) =>
  chain.account(tokenAccountOf(token, holder.publicKey).toBase58())?.data[108]
const own = ({ token }: Scene, path: string): string => `/v2/tokens/${token.mint.toBase58()}${path}`
const ofHolder = ({ holder }: Scene) => addressOf(holder)
const freezeHolder = ({ token: { mint, program }, token, holder, authority, send }: Scene) =>
  send([
    spl.createFreezeAccountInstruction(tokenAccountOf(token, holder.publicKey), mint, authority.publicKey, [], program),
  ])
const pauseMint = ({ token: { mint, program }, authority, send }: Scene) =>
  send([spl.createPauseInstruction(mint, authority.publicKey, [], program)])
/** The holder pays a friend, whose account withholds the fee. */
const payFee = ({ token, holder, send }: Scene) => {
  const { mint, program } = token
  const [from, to] = [tokenAccountOf(token, holder.publicKey), tokenAccountOf(token, FRIEND)]
  send(
    [
      spl.createAssociatedTokenAccountInstruction(holder.publicKey, to, FRIEND, mint, program),
      spl.createTransferCheckedInstruction(from, mint, to, holder.publicKey, 50n, 9, [], program),
    ],
    holder,
  )
}
const withheldOfFriend = ({ chain, token }: Scene) =>
  withheldFee(chain.account(tokenAccountOf(token, FRIEND).toBase58())!.data)
const openEmpty = ({ token, acting, authority, send }: Scene, owner = acting) =>
  send([
    spl.createAssociatedTokenAccountInstruction(
      authority.publicKey,
      tokenAccountOf(token, owner),
      owner,
      token.mint,
      token.program,
    ),
  ])
const giveActing = ({ chain, authority, token, acting }: Scene) => give(chain, authority, token, acting, 100n)
/** Takes away what the holder has, so that nothing exists. */
const burnAll = ({ token, holder, send }: Scene) =>
  send(
    [
      spl.createBurnInstruction(
        tokenAccountOf(token, holder.publicKey),
        token.mint,
        holder.publicKey,
        100n,
        [],
        token.program,
      ),
    ],
    holder,
  )

const setting = (
  by: TokenAuthorityType,
  field: string,
  value: unknown,
  read: (token: OnChainToken) => unknown,
  more: Partial<Act> = {},
): Act => ({
  by,
  request: (at) => ['PATCH', own(at, '/extensions'), { [field]: value }],
  isDone: async (at) => read(await at.state()),
  missing: [field, /an extension can only be chosen at creation/],
  gone: [field, /was given up, so nobody can use it/],
  ...more,
})

const holderOf = (type: TokenAuthorityType, { mintAuthority, freezeAuthority, metadata, extensions }: OnChainToken) => {
  if (type === 'mint') return mintAuthority
  if (type === 'freeze') return freezeAuthority
  if (type === 'metadata') return metadata?.isMutable ? metadata.updateAuthority : null
  return extensions?.authorities[type]
}

const settingAuthority = (type: TokenAuthorityType, to: string | null): Act => ({
  by: type,
  isScaled: type === 'scaled_amount',
  request: (at) => ['PUT', own(at, `/authorities/${type}`), { new_authority: to }],
  isDone: async (at) => holderOf(type, await at.state()) === to,
  ...(type === 'mint'
    ? {}
    : {
        missing: [
          'type',
          type === 'freeze' ? /already revoked/ : type === 'metadata' ? /has no metadata, so/ : /without the extension/,
        ],
      }),
  gone: ['type', /already revoked/],
})

const ACTS: Record<string, Act> = {
  mint: {
    by: 'mint',
    request: (at) => ['POST', own(at, '/mints'), { amount: '7', recipient: FRIEND.toBase58() }],
    isDone: (at) => heldBy(at, FRIEND) === 7n,
    gone: ['mint', /nobody can mint more of it/],
  },
  'burn of its own': {
    by: 'owner',
    prepare: giveActing,
    request: (at) => ['POST', own(at, '/burns'), { amount: '7' }],
    isDone: (at) => heldBy(at, at.acting) === 93n,
    missing: ['payer', /has no token account/],
    elsewhere: ['payer', /has no token account/],
  },
  'burn of what another holds': {
    by: 'permanent_delegate',
    request: (at) => ['POST', own(at, '/burns'), { amount: '7', holder: ofHolder(at) }],
    isDone: (at) => heldBy(at, at.holder.publicKey) === 93n,
    missing: ['holder', /or the permanent delegate of .*, which it does not have/],
    elsewhere: ['holder', /or the permanent delegate of .*, which is VAULT/],
    gone: ['holder', /or the permanent delegate of .*, which it does not have/],
  },
  freeze: {
    by: 'freeze',
    request: (at) => ['POST', own(at, '/freezes'), { wallet: ofHolder(at) }],
    isDone: (at) => stateOfHolder(at) === 2,
    missing: ['mint', /nobody can freeze or thaw its accounts/],
    gone: ['mint', /nobody can freeze or thaw its accounts/],
  },
  thaw: {
    by: 'freeze',
    prepare: freezeHolder,
    request: (at) => ['DELETE', own(at, `/freezes/${ofHolder(at)}`)],
    isDone: (at) => stateOfHolder(at) === 1,
    missing: ['mint', /nobody can freeze or thaw its accounts/],
    gone: ['mint', /nobody can freeze or thaw its accounts/],
  },
  pause: {
    by: 'pause',
    request: (at) => ['PUT', own(at, '/pause')],
    isDone: async (at) => (await at.state()).extensions?.isPaused,
    missing: ['mint', /can never be paused/],
    gone: ['mint', /can never be paused: its pause authority was given up/],
  },
  resume: {
    by: 'pause',
    prepare: pauseMint,
    request: (at) => ['DELETE', own(at, '/pause')],
    isDone: async (at) => (await at.state()).extensions?.isPaused === false,
    missing: ['mint', /can never be resumed/],
    gone: ['mint', /can never be resumed: its pause authority was given up/],
  },
  'close of the mint': {
    by: 'close',
    prepare: burnAll,
    request: (at) => ['DELETE', own(at, '')],
    isDone: ({ chain, mint }) => chain.account(mint) === null,
    missing: ['mint', /can never be closed/],
    gone: ['mint', /can never be closed: its close authority was given up/],
  },
  'close of a token account': {
    by: 'owner',
    prepare: openEmpty,
    request: () => ['POST', '/v2/rent-reclaims', { close_empty: true }],
    isDone: (at) => heldBy(at, at.acting) === null,
    missing: ['payer', /No account of .* holds lamports that can return now/],
    elsewhere: ['payer', /No account of .* holds lamports that can return now/],
  },
  transfer: {
    by: 'owner',
    prepare: giveActing,
    request: ({ mint }) => [
      'POST',
      '/v2/token-transfers',
      { mint, recipients: [{ wallet: FRIEND.toBase58(), amount: '9' }], accept_transfer_fee: true },
    ],
    isDone: (at) => heldBy(at, at.acting) === 91n,
    missing: ['recipients', /has 0 raw units of .*, but the transfer needs 9/],
    elsewhere: ['recipients', /has 0 raw units of .*, but the transfer needs 9/],
  },
  'update of the metadata': {
    by: 'metadata',
    request: (at) => ['PATCH', own(at, ''), { name: 'A longer name than', symbol: 'NEW' }],
    isDone: async (at) => (await at.state()).metadata?.symbol === 'NEW',
    missing: ['mint', /has no metadata/],
    gone: ['mint', /immutable: nobody can change it/],
  },
  'new transfer fee': setting(
    'transfer_fee_config',
    'transfer_fee',
    { basis_points: 5 },
    ({ extensions }) => extensions?.transferFee?.newer.basisPoints === 5,
  ),
  'new interest rate': setting(
    'interest_rate',
    'interest_rate',
    { basis_points: 5 },
    ({ extensions }) => extensions?.interestBasisPoints === 5,
  ),
  'new multiplier': setting(
    'scaled_amount',
    'scaled_amount',
    { multiplier: '3' },
    ({ extensions }) => extensions?.uiMultiplier?.after === 3,
    { isScaled: true },
  ),
  'new state of accounts': setting(
    'freeze',
    'default_frozen',
    true,
    ({ extensions }) => extensions?.isFrozenByDefault,
    { isExtended: true },
  ),
  'new transfer hook': setting(
    'transfer_hook',
    'transfer_hook',
    { program: MEMO_PROGRAM },
    ({ extensions }) => extensions?.transferHook === MEMO_PROGRAM,
  ),
  'withdrawal of fees': {
    by: 'withheld_withdraw',
    prepare: payFee,
    request: (at) => ['POST', own(at, '/withheld-withdrawals')],
    isDone: (at) => heldBy(at, at.acting) === 5n && withheldOfFriend(at) === 0n,
    missing: ['mint', /has no transfer fee/],
    gone: ['mint', /The withdraw authority of .* was given up, so nobody can use it/],
  },
  'harvest of fees': {
    by: 'anybody',
    prepare: payFee,
    request: (at) => ['POST', own(at, '/harvests')],
    isDone: async (at) => (await at.state()).extensions?.withheldInMint === 5n,
    missing: ['mint', /has no transfer fee/],
    stillCan: true,
  },
}
for (const type of Object.keys(TOKEN_AUTHORITIES) as TokenAuthorityType[]) {
  ACTS[`change of the authority ${type}`] = settingAuthority(type, FRIEND.toBase58())
  ACTS[`end of the authority ${type}`] = settingAuthority(type, null)
}

/** Whether a mint of SPL Token can have the authority. */
const isOfBoth = ({ by, isExtended }: Act) => ['mint', 'freeze', 'metadata', 'owner'].includes(by) && !isExtended

type Column = 'present' | 'missing' | 'given up'

async function open(service: Service, program: Program, act: Act, { isBare = false, acting }: Opening = {}) {
  const chain = await service.services.chain.local()
  const [authority, holder] = [Keypair.generate(), Keypair.generate()]
  for (const key of [authority, holder]) chain.airdrop(addressOf(key), 10_000_000_000n)
  const id = PROGRAM_IDS[program]
  const hasExtensions = program === 'Token-2022' && !isBare
  const extensions = hasExtensions ? { extensions: [...EXTENSIONS, act.isScaled ? SCALED : INTEREST] } : {}
  const token = createMint(chain, authority, { program: id, ...extensions, isFreezable: !isBare })
  const mint = token.mint.toBase58()
  const at: Scene = {
    ...{ chain, service, token, mint, authority, holder, acting: acting ?? authority.publicKey },
    send(instructions, ...signers) {
      const { err, logs } = run(chain, instructions, [authority, ...signers])
      expect(err, logs.join('\n')).toBeNull()
    },
    state: () => readTokenState(service.services.chain, mint),
  }
  if (act.by === 'metadata' && !isBare) {
    chain.airdrop(mint, 10_000_000n)
    const write = program === 'SPL Token' ? createMetadata : initializeMetadata
    at.send([await write(token.mint, authority.publicKey, TEXTS)])
  }
  give(chain, authority, token, holder.publicKey, 100n)
  if (!isBare) act.prepare?.(at)
  return at
}
interface Opening {
  isBare?: boolean
  acting?: PublicKey
}

/** Gives the authority to another, or up, past the service; that of the metadata with its pointer. */
async function move({ token, authority, send }: Scene, type: TokenAuthorityType, to: PublicKey | null): Promise<void> {
  const [by, { mint, program }] = [authority.publicKey, token]
  const set = (kind: number) => spl.createSetAuthorityInstruction(mint, by, kind, to, [], program)
  const { kind } = TOKEN_AUTHORITIES[type]
  if (kind !== null) send([set(kind)])
  else if (program.equals(spl.TOKEN_2022_PROGRAM_ID))
    send([await setUpdateAuthority(mint, by, to), set(TOKEN_AUTHORITIES.metadata_pointer.kind)])
  else send([await (to === null ? freezeMetadata(mint, by) : handMetadata(mint, by, to))])
}

async function ask(at: Scene, act: Act, more: object) {
  const [method, path, body = {}] = act.request(at)
  const { json } = await at.service.request(method, path, { body: { ...body, ...more } })
  return json as { data: { transaction: string; proposal?: { id: string; transactions: string[] } }; error: ApiFault }
}
interface ApiFault {
  param: string
  message: string
  details?: { authority?: string }
}
const byWallet = (at: Scene) => ({ payer: addressOf(at.authority) })

async function built(at: Scene, act: Act): Promise<string> {
  const { data, error } = await ask(at, act, byWallet(at))
  expect(error).toBeUndefined()
  return data.transaction
}

async function expectRefusal(at: Scene, act: Act, [param, message]: Refusal): Promise<ApiFault> {
  const { error } = await ask(at, act, byWallet(at))
  expect([error?.param, error?.message]).toEqual([param, expect.stringMatching(message)])
  return error
}

/** Signed by the authority; what a program refuses fails. */
const landed = ({ chain, authority }: Scene, transaction: string): unknown => {
  const signed = Buffer.from(signWith(transaction, [authority]), 'base64')
  const err = chain.simulate(signed).err ?? chain.send(signed).err
  chain.advance(1)
  return err
}

const COLUMNS: Record<Column, (service: Service, program: Program, act: Act) => Promise<void>> = {
  async present(service, program, act) {
    const at = await open(service, program, act)
    expect(await act.isDone(at)).not.toBe(true)
    expect(landed(at, await built(at, act))).toBeNull()
    expect(await act.isDone(at)).toBe(true)
  },
  async missing(service, program, act) {
    const at = await open(service, program, act, { isBare: true })
    await expectRefusal(at, act, act.missing!)
  },
  async 'given up'(service, program, act) {
    const at = await open(service, program, act)
    const before = await built(at, act)
    if (act.stillCan) {
      for (const type of ['mint', 'freeze', 'transfer_fee_config', 'withheld_withdraw'] as const)
        await move(at, type, null)
      expect(landed(at, before)).toBeNull()
      expect(await act.isDone(at)).toBe(true)
      return
    }
    await move(at, act.by as TokenAuthorityType, null)
    await expectRefusal(at, act, act.gone!)
    // The program refuses what was built before, too. Metaplex passes on an authority that can change nothing any more.
    const isEmpty = program === 'SPL Token' && act.by === 'metadata' && act.gone![0] === 'type'
    expect(landed(at, before) === null).toBe(isEmpty)
  },
}

const isCase = (program: Program, act: Act, column: Column) => {
  if (column === 'missing') return act.missing !== undefined
  return (
    (program === 'Token-2022' || isOfBoth(act)) && (column === 'present' || act.gone !== undefined || !!act.stillCan)
  )
}
/** Of what a vault does, the sample has what differs most. */
const SAMPLE = [
  ...['burn of its own', 'thaw', 'pause', 'close of the mint', 'update of the metadata', 'withdrawal of fees'],
  ...['end of the authority metadata', 'change of the authority mint'],
]
/** The end of an authority is built as its change is, so the sample has the change alone. */
const cases = (program: Program, column: Column) =>
  Object.entries(ACTS).filter(
    ([name, act]) => isCase(program, act, column) && (inSoak || !name.startsWith('end of') || SAMPLE.includes(name)),
  )
const shared = sharedService()
const lacksMetaplex = (program: Program, { by }: Act) =>
  program === 'SPL Token' && by === 'metadata' && !hasProgram(PROGRAMS.tokenMetadata.id)
const programs = Object.keys(PROGRAM_IDS) as Program[]

describe.each(programs)('an act on a token of %s', (program) => {
  for (const column of Object.keys(COLUMNS) as Column[]) {
    for (const [name, act] of oneIn(2, cases(program, column))) {
      it.skipIf(lacksMetaplex(program, act))(`whose authority is ${column}: ${name}`, { tags: 'sampled' }, async () => {
        await COLUMNS[column](await shared(), program, act)
      })
    }
  }
})

describe.skipIf(lacksTreasury)(`an act on a token whose authority a vault holds${lacksTreasury}`, () => {
  let treasury: Treasury
  sharedTreasury((opened) => {
    treasury = opened
  })

  for (const program of programs) {
    const all = cases(program, 'present').filter(([name]) => inSoak || SAMPLE.includes(name))
    it.each(all)(
      `is refused to a wallet, and done by the members of ${program}: %s`,
      { tags: 'sampled' },
      async (_, act) => {
        const { service, vault, approver, a, put, follow, carryOut, proposalOf } = treasury
        const acting = new PublicKey(vault)
        const at = await open(service, program, act, { acting })
        if (act.by !== 'owner' && act.by !== 'anybody') {
          const before = await built(at, act)
          await move(at, act.by, acting)
          if (act.elsewhere === undefined) {
            const { details } = await expectRefusal(at, act, ['payer', new RegExp(vault)])
            expect(details).toEqual({ authority: vault })
          }
          expect(landed(at, before)).not.toBeNull()
        }
        if (act.elsewhere !== undefined) {
          const [param, message] = act.elsewhere
          await expectRefusal(at, act, [param, new RegExp(message.source.replace('VAULT', vault))])
        }
        const { data, error } = await ask(at, act, { payer: vault, approver: approver() })
        expect(error).toBeUndefined()
        expect(await act.isDone(at)).not.toBe(true)
        put(data.proposal!, a)
        await follow()
        await carryOut(data.proposal!.id)
        expect(await proposalOf(data.proposal!.id)).toMatchObject({ status: 'executed' })
        expect(await act.isDone(at)).toBe(true)
      },
    )
  }
})
