/** The report of random tokens that a foreign client made, compared with what web3.js and spl-token read of them. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TokenReport } from '../src/api/token-report.ts'
import { INCINERATOR, MEMO_PROGRAM } from '../src/solana/program-ids.ts'
import { createMint, type Extension, run, tokenAccountOf } from './support/gold.ts'
import { embeddedNode } from './support/node.ts'
import { runs } from './support/runs.ts'
import { sharedService } from './support/service.ts'
import { walletOn } from './support/wallets.ts'

const { ExtensionType: Type, AuthorityType } = spl
const shared = sharedService()
const OTHER = Keypair.generate().publicKey
const BURN = new PublicKey(INCINERATOR)
/** Six wallets, two addresses of a program, and one where tokens are destroyed. */
const OWNERS = [
  ...Array.from({ length: 6 }, () => Keypair.generate().publicKey),
  ...[1, 2].map((n) => PublicKey.findProgramAddressSync([Buffer.from([n])], new PublicKey(MEMO_PROGRAM))[0]),
  BURN,
]

type Holder = 'payer' | 'other' | 'nobody'
type Pick = Readonly<Record<string, { chosen: boolean; holder: Holder }>>
const holder = fc.constantFrom<Holder>('payer', 'other', 'nobody')
const keyFor = (who: Holder, by: PublicKey) => (who === 'payer' ? by : who === 'other' ? OTHER : null)
const fee = fc.record({ bps: fc.nat(10_000), most: fc.bigInt(0n, 2n ** 64n - 1n) })

/** Every extension of a mint that spl-token can make and read, by the name of its authority in a report. */
const EXTENSIONS: Readonly<Record<string, (who: Holder, terms: { bps: number; most: bigint }) => Extension>> = {
  transfer_fee_config: (who, { bps, most }) => ({
    type: Type.TransferFeeConfig,
    initialize: (mint, of, by) =>
      spl.createInitializeTransferFeeConfigInstruction(mint, keyFor(who, by), OTHER, bps, most, of),
  }),
  close: (who) => ({
    type: Type.MintCloseAuthority,
    initialize: (mint, of, by) => spl.createInitializeMintCloseAuthorityInstruction(mint, keyFor(who, by), of),
  }),
  interest_rate: (who, { bps }) => ({
    type: Type.InterestBearingConfig,
    initialize: (mint, of, by) =>
      spl.createInitializeInterestBearingMintInstruction(mint, keyFor(who, by) ?? PublicKey.default, bps, of),
  }),
  permanent_delegate: (who) => ({
    type: Type.PermanentDelegate,
    initialize: (mint, of, by) => spl.createInitializePermanentDelegateInstruction(mint, keyFor(who, by) ?? by, of),
  }),
  transfer_hook: (who, { bps }) => ({
    type: Type.TransferHook,
    initialize: (mint, of, by) => {
      const hook = bps % 2 === 0 ? OTHER : PublicKey.default
      // The program refuses a hook without a program and an authority.
      const authority = keyFor(who, by) ?? (hook.equals(PublicKey.default) ? by : PublicKey.default)
      return spl.createInitializeTransferHookInstruction(mint, authority, hook, of)
    },
  }),
  pause: (who) => ({
    type: Type.PausableConfig,
    initialize: (mint, of, by) => spl.createInitializePausableConfigInstruction(mint, keyFor(who, by) ?? by, of),
  }),
  metadata_pointer: (who) => ({
    type: Type.MetadataPointer,
    initialize: (mint, of, by) => spl.createInitializeMetadataPointerInstruction(mint, keyFor(who, by), OTHER, of),
  }),
  group_pointer: (who) => ({
    type: Type.GroupPointer,
    initialize: (mint, of, by) => spl.createInitializeGroupPointerInstruction(mint, keyFor(who, by), OTHER, of),
  }),
  group_member_pointer: (who) => ({
    type: Type.GroupMemberPointer,
    initialize: (mint, of, by) => spl.createInitializeGroupMemberPointerInstruction(mint, keyFor(who, by), OTHER, of),
  }),
  default_state: (_, { bps }) => ({
    type: Type.DefaultAccountState,
    initialize: (mint, of) =>
      spl.createInitializeDefaultAccountStateInstruction(
        mint,
        bps % 2 === 0 ? spl.AccountState.Frozen : spl.AccountState.Initialized,
        of,
      ),
  }),
  non_transferable: () => ({
    type: Type.NonTransferable,
    initialize: (mint, of) => spl.createInitializeNonTransferableMintInstruction(mint, of),
  }),
}
const NAMES = Object.keys(EXTENSIONS)

const Token = fc.record({
  extensions: fc.record(
    Object.fromEntries(NAMES.map((name) => [name, fc.record({ chosen: fc.boolean(), holder })])),
  ) as fc.Arbitrary<Pick>,
  fee,
  balances: fc.array(
    fc.record({
      owner: fc.nat(OWNERS.length - 1),
      amount: fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(0n, 2n ** 59n)),
      /** Whether it is in an account of its own, and not in the owner's associated one. */
      apart: fc.boolean(),
    }),
    { maxLength: 14 },
  ),
  mint: holder,
  freeze: holder,
})

async function opened() {
  const { services, request } = await shared()
  const { chain, wallet } = await walletOn(services)
  const node = embeddedNode(chain, 'confirmed')
  const land = (instructions: TransactionInstruction[], ...more: Keypair[]) => {
    // The same instructions again are another transaction, with the next blockhash.
    chain.advance(1)
    const landed = run(chain, instructions, [wallet, ...more])
    expect(landed.err, landed.logs.join('\n')).toBeNull()
  }
  const report = async (mint: PublicKey): Promise<TokenReport> => {
    chain.advance(40)
    const { status, json, text } = await request('GET', `/v2/tokens/${mint.toBase58()}/report`)
    expect(status, text).toBe(200)
    return json.data
  }
  return { chain, wallet, node, land, report }
}

const addressOrNull = (key: PublicKey | null | undefined) =>
  key == null || key.equals(PublicKey.default) ? null : key.toBase58()

/** Authorities of a mint's extensions as spl-token reads them. */
function authoritiesOf(mint: spl.Mint): Record<string, string | null> {
  const [feeConfig, close, interest] = [
    spl.getTransferFeeConfig(mint),
    spl.getMintCloseAuthority(mint),
    spl.getInterestBearingMintConfigState(mint),
  ]
  const [delegate, hook, pausable] = [
    spl.getPermanentDelegate(mint),
    spl.getTransferHook(mint),
    spl.getPausableConfig(mint),
  ]
  const has = (type: spl.ExtensionType) => spl.getExtensionTypes(withoutPadding(mint.tlvData)).includes(type)
  return Object.fromEntries(
    [
      feeConfig && ['transfer_fee_config', feeConfig.transferFeeConfigAuthority],
      feeConfig && ['withheld_withdraw', feeConfig.withdrawWithheldAuthority],
      close && ['close', close.closeAuthority],
      interest && ['interest_rate', interest.rateAuthority],
      delegate && ['permanent_delegate', delegate.delegate],
      hook && ['transfer_hook', hook.authority],
      pausable && ['pause', pausable.authority],
      has(Type.MetadataPointer) && ['metadata_pointer', spl.getMetadataPointerState(mint)?.authority],
      has(Type.GroupPointer) && ['group_pointer', spl.getGroupPointerState(mint)?.authority],
      has(Type.GroupMemberPointer) && ['group_member_pointer', spl.getGroupMemberPointerState(mint)?.authority],
    ].flatMap((each) => (Array.isArray(each) ? [[each[0], addressOrNull(each[1] as PublicKey)]] : [])),
  )
}

const AS_LONG_AS_A_MULTISIG = ['transfer_fee_config', 'metadata_pointer', 'default_state', 'non_transferable']
const withExtensions = (chosen: readonly string[]) => ({
  extensions: Object.fromEntries(
    NAMES.map((name) => [name, { chosen: chosen.includes(name), holder: 'payer' as const }]),
  ),
  ...{ fee: { bps: 0, most: 0n }, mint: 'payer' as const, freeze: 'payer' as const },
})
/** The program adds two bytes to a mint that would be as long as a multisig, and spl-token reads past them. */
const withoutPadding = (extensions: Buffer) => (extensions.length === 191 ? extensions.subarray(0, 189) : extensions)

describe.each([
  ['SPL Token', spl.TOKEN_PROGRAM_ID],
  ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
] as const)('the report of any token of %s', (_, program) => {
  it('equals what web3.js and spl-token read: supply, holders, authorities, every extension', async () => {
    const { chain, wallet, node, land, report } = await opened()
    const by = wallet.publicKey
    await fc.assert(
      fc.asyncProperty(Token, async ({ extensions: picks, fee: terms, balances, mint: minting, freeze }) => {
        const chosen = NAMES.filter((name) => program === spl.TOKEN_2022_PROGRAM_ID && picks[name]!.chosen)
        const extensions = chosen.map((name) => EXTENSIONS[name]!(picks[name]!.holder, terms))
        const token = createMint(chain, wallet, { program, ...(extensions.length === 0 ? {} : { extensions }) })
        const { mint } = token
        const startsFrozen = chosen.includes('default_state') && terms.bps % 2 === 0
        const made = await spl.getMint(node, mint, 'confirmed', program)
        for (const { owner: place, amount, apart } of balances) {
          const owner = OWNERS[place]!
          const own = Keypair.generate()
          const account = apart ? own.publicKey : tokenAccountOf(token, owner)
          // Accounts of such a mint must have an owner that cannot change, as associated ones do.
          const read = { ...made, tlvData: withoutPadding(made.tlvData) }
          const space = spl.getAccountLenForMint(read) + (chosen.includes('non_transferable') ? 4 : 0)
          const isOpen = chain.account(account.toBase58()) !== null
          const opening = apart
            ? [
                SystemProgram.createAccount({
                  ...{ fromPubkey: by, newAccountPubkey: account, space, programId: program },
                  lamports: Number(chain.minimumBalance(space)),
                }),
                ...(chosen.includes('non_transferable')
                  ? [spl.createInitializeImmutableOwnerInstruction(account, program)]
                  : []),
                spl.createInitializeAccount3Instruction(account, mint, owner, program),
              ]
            : [spl.createAssociatedTokenAccountIdempotentInstruction(by, account, owner, mint, program)]
          const thaw = startsFrozen && !isOpen ? [spl.createThawAccountInstruction(account, mint, by, [], program)] : []
          const print = spl.createMintToInstruction(mint, account, by, amount, [], program)
          land([...opening, ...thaw, print], ...(apart ? [own] : []))
        }
        // The program makes neither without a holder, who may give it up.
        for (const [name, type] of [
          ['pause', AuthorityType.PausableConfig],
          ['permanent_delegate', AuthorityType.PermanentDelegate],
        ] as const) {
          const isGivenUp = chosen.includes(name) && picks[name]!.holder === 'nobody'
          if (isGivenUp) land([spl.createSetAuthorityInstruction(mint, by, type, null, [], program)])
        }
        for (const [type, who] of [
          [AuthorityType.MintTokens, minting],
          [AuthorityType.FreezeAccount, freeze],
        ] as const) {
          if (who !== 'payer') land([spl.createSetAuthorityInstruction(mint, by, type, keyFor(who, by), [], program)])
        }

        const facts = await report(mint)
        const read = await spl.getMint(node, mint, 'confirmed', program)
        expect([facts.supply, facts.decimals]).toEqual([String(read.supply), read.decimals])
        expect(facts.supply).toBe((await node.getTokenSupply(mint)).value.amount)
        expect(facts.extensions.map(({ number, name }) => [number, name])).toEqual(
          spl.getExtensionTypes(withoutPadding(read.tlvData)).map((type) => [type, Type[type]]),
        )
        expect(facts.extensions).toHaveLength(chosen.length)
        expect(Object.fromEntries(facts.authorities.map(({ type, holder: who }) => [type, who]))).toEqual({
          mint: addressOrNull(read.mintAuthority),
          freeze: addressOrNull(read.freezeAuthority),
          ...authoritiesOf(read),
        })
        const feeConfig = spl.getTransferFeeConfig(read)
        expect(facts).toMatchObject({
          transfer_fee: feeConfig && {
            basis_points: feeConfig.newerTransferFee.transferFeeBasisPoints,
            maximum_fee: String(feeConfig.newerTransferFee.maximumFee),
          },
          transfer_hook: addressOrNull(spl.getTransferHook(read)?.programId),
          permanent_delegate: addressOrNull(spl.getPermanentDelegate(read)?.delegate),
          frozen_by_default: spl.getDefaultAccountState(read)?.state === spl.AccountState.Frozen,
          paused: spl.getPausableConfig(read)?.paused ?? null,
          transferable: spl.getNonTransferable(read) === null,
          gaps: [],
        })

        const filters = [{ memcmp: { offset: 0, bytes: mint.toBase58() } }]
        const listed = (await node.getProgramAccounts(program, { filters })).map(({ pubkey, account }) =>
          spl.unpackAccount(pubkey, account, program),
        )
        const sums = new Map<string, bigint>()
        for (const { owner, amount } of listed) {
          if (amount > 0n) sums.set(owner.toBase58(), (sums.get(owner.toBase58()) ?? 0n) + amount)
        }
        const burnt = sums.get(BURN.toBase58()) ?? 0n
        sums.delete(BURN.toBase58())
        const bps = (amount: bigint) => (read.supply === 0n ? 0 : Number((amount * 10_000n) / read.supply))
        const sorted = [...sums].sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
        const held = facts.holders!
        expect([held.source, held.accounts, held.holders]).toEqual(['chain', listed.length, sums.size])
        expect(held.top.map(({ wallet: who, amount, share_bps }) => [who, amount, share_bps])).toEqual(
          sorted.slice(0, 10).map(([who, amount]) => [who, String(amount), bps(amount)]),
        )
        for (const { wallet: who, kind } of held.top) {
          expect(kind).toBe(PublicKey.isOnCurve(new PublicKey(who)) ? 'wallet' : 'pda')
        }
        expect(held.top_share_bps).toBe(bps(sorted.slice(0, 10).reduce((sum, [, amount]) => sum + amount, 0n)))
        expect(held.parts.find(({ kind }) => kind === 'burn')?.amount ?? '0').toBe(String(burnt))
        const largest = (await node.getTokenLargestAccounts(mint)).value
        expect(largest.map(({ amount }) => BigInt(amount))).toEqual(
          listed
            .map(({ amount }) => amount)
            .sort((a, b) => (a > b ? -1 : 1))
            .slice(0, 20),
        )

        const level = (risk: string) => facts.risks.find((each) => each.risk === risk)!.level
        expect([level('mint_authority'), level('freeze_authority')]).toEqual(
          [read.mintAuthority, read.freezeAuthority].map((key) => (key === null ? 'ok' : 'danger')),
        )
        const share = sorted[0] === undefined ? 0 : bps(sorted[0][1])
        expect(level('large_holder')).toBe(share > 5_000 ? 'danger' : share > 1_000 ? 'warning' : 'ok')
        expect(level('unlocked_liquidity')).toBe('unknown')
      }),
      {
        numRuns: runs(10, 100),
        examples: [[{ ...withExtensions(AS_LONG_AS_A_MULTISIG), balances: [{ owner: 0, amount: 0n, apart: true }] }]],
      },
    )
  }, 120_000)
})
