/** The report of a token over HTTP: strangers' mints, locks and pools, compared with what web3.js and spl-token read. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it } from 'vitest'
import { reportText } from '../commands/tokens/report-text.ts'
import { TOKEN_RISKS, type TokenReport, type TokenRisk } from '../src/api/token-report.ts'
import { NodeRefusal } from '../src/chain/nodes/node-call.ts'
import { createMetadata } from '../src/chain/programs/tokens/metaplex.ts'
import type { Context } from '../src/context.ts'
import { getTokenReport } from '../src/operations/tokens/report/get-token-report.ts'
import { addressOf as addressOfBytes } from '../src/solana/addresses.ts'
import { DAMM_V2_POOL_AUTHORITY, PRESALE_AUTHORITY, PROGRAMS } from '../src/solana/programs.ts'
import { HAS_DAMM_V2, openStrangersPool } from './support/damm-v2.ts'
import { openForeignCurve } from './support/foreign-curve.ts'
import { addressOf, createMint, type Extension, give, run } from './support/gold.ts'
import { keyOf, namedOwners, putHolders, putOwned } from './support/holders.ts'
import type { TestChain } from './support/local-chain.ts'
import { embeddedNode } from './support/node.ts'
import { hasProgram } from './support/programs.ts'
import { sharedService } from './support/service.ts'
import { SOL, walletOn } from './support/wallets.ts'

const shared = sharedService()
const lacking = (programs: readonly { id: string; name: string }[]) => {
  const names = programs.filter(({ id }) => !hasProgram(id)).map(({ name }) => name)
  return { lacks: names.length > 0, what: names.length > 0 ? `needs ${names.join(', ')}` : 'on its real programs' }
}

async function opened() {
  const { services, request } = await shared()
  const { chain, wallet } = await walletOn(services, 1_000n * SOL)
  const node = embeddedNode(chain, 'confirmed')
  const land = (instructions: TransactionInstruction[], ...signers: Keypair[]) => {
    const landed = run(chain, instructions, signers)
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    chain.advance(1)
  }
  const report = async (mint: string, query = ''): Promise<TokenReport> => {
    // Holders are read at finalized.
    chain.advance(40)
    const { status, json, text } = await request('GET', `/v2/tokens/${mint}/report${query}`)
    expect(status, text).toBe(200)
    return json.data
  }
  return { services, request, chain, wallet, node, land, report }
}

const verdict = ({ risks }: TokenReport, risk: TokenRisk['risk']) => risks.find((each) => each.risk === risk)!
const levels = ({ risks }: TokenReport) =>
  Object.fromEntries(risks.filter(({ level }) => level !== 'ok').map(({ risk, level }) => [risk, level]))
const authority = ({ authorities }: TokenReport, type: string) => authorities.find((each) => each.type === type)?.holder

describe.each([
  ['SPL Token', spl.TOKEN_PROGRAM_ID],
  ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
] as const)('the report of a mint that a stranger made with %s', (_, program) => {
  it('equals what web3.js and spl-token read', async () => {
    const { chain, wallet, node, report } = await opened()
    const mint = createMint(chain, wallet, { program })
    const key = mint.mint.toBase58()
    const owners = [Keypair.generate(), Keypair.generate(), Keypair.generate()].map(({ publicKey }) => publicKey)
    for (const [i, owner] of owners.entries()) give(chain, wallet, mint, owner, [700n, 200n, 100n][i]!)
    const facts = await report(key)
    const read = await spl.getMint(node, mint.mint, 'confirmed', program)
    expect(facts).toMatchObject({
      mint: key,
      token_program: program === spl.TOKEN_PROGRAM_ID ? 'spl' : 'token2022',
      decimals: read.decimals,
      supply: String(read.supply),
      metadata: null,
      extensions: [],
      transfer_fee: null,
      gaps: [],
    })
    expect(facts.supply).toBe((await node.getTokenSupply(mint.mint)).value.amount)
    expect([authority(facts, 'mint'), authority(facts, 'freeze')]).toEqual([
      read.mintAuthority!.toBase58(),
      read.freezeAuthority!.toBase58(),
    ])
    const largest = (await node.getTokenLargestAccounts(mint.mint)).value
    expect(facts.holders!.top.map(({ amount }) => amount)).toEqual(largest.map(({ amount }) => amount))
    expect(facts.holders).toMatchObject({
      ...{ source: 'chain', supply: '1000', accounts: 3, holders: 3, top_share_bps: 10_000, withheld: '0' },
      parts: [{ kind: 'wallet', addresses: 3, amount: '1000', share_bps: 10_000 }],
    })
    expect(facts.holders!.top.map(({ wallet: each, share_bps }) => [each, share_bps])).toEqual(
      owners.map((owner, i) => [owner.toBase58(), [7_000, 2_000, 1_000][i]]),
    )
    expect(facts.risks.map(({ risk }) => risk)).toEqual(TOKEN_RISKS)
    expect(levels(facts)).toEqual({
      mint_authority: 'danger',
      freeze_authority: 'danger',
      large_holder: 'danger',
      unlocked_liquidity: 'unknown',
    })
    expect(verdict(await report(key, '?holder_limit=70'), 'large_holder')).toEqual({
      risk: 'large_holder',
      level: 'ok',
      finding: 'The largest holder has 70 % of the supply.',
      remedy: null,
    })
    for (const type of [spl.AuthorityType.MintTokens, spl.AuthorityType.FreezeAccount]) {
      run(chain, [spl.createSetAuthorityInstruction(mint.mint, wallet.publicKey, type, null, [], program)], [wallet])
    }
    const after = await report(key)
    expect([authority(after, 'mint'), authority(after, 'freeze'), after.status]).toEqual([
      null,
      null,
      'fully_immutable',
    ])
    expect(levels(after)).toEqual({ large_holder: 'danger', unlocked_liquidity: 'unknown' })
  })
})

describe('the report of a mint of Token-2022 with extensions', () => {
  const { ExtensionType } = spl
  const key = Keypair.generate().publicKey
  const program = spl.TOKEN_2022_PROGRAM_ID
  const others: Extension[] = [
    {
      type: ExtensionType.TransferFeeConfig,
      initialize: (mint, of, by) => spl.createInitializeTransferFeeConfigInstruction(mint, by, key, 123, 5_000n, of),
    },
    {
      type: ExtensionType.MintCloseAuthority,
      initialize: (mint, of, by) => spl.createInitializeMintCloseAuthorityInstruction(mint, by, of),
    },
    {
      type: ExtensionType.DefaultAccountState,
      initialize: (mint, of) => spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, of),
    },
    {
      type: ExtensionType.PermanentDelegate,
      initialize: (mint, of) => spl.createInitializePermanentDelegateInstruction(mint, key, of),
    },
    {
      type: ExtensionType.TransferHook,
      initialize: (mint, of, by) => spl.createInitializeTransferHookInstruction(mint, by, key, of),
    },
    {
      type: ExtensionType.PausableConfig,
      initialize: (mint, of, by) => spl.createInitializePausableConfigInstruction(mint, by, of),
    },
  ]

  it('names each extension and authority as spl-token reads them, and a danger for each power over holders', async () => {
    const { chain, wallet, node, report } = await opened()
    const { mint } = createMint(chain, wallet, { program, extensions: others })
    const facts = await report(mint.toBase58())
    const read = await spl.getMint(node, mint, 'confirmed', program)
    expect(facts.extensions.map(({ number }) => number)).toEqual(spl.getExtensionTypes(read.tlvData))
    expect(facts.extensions.map(({ name }) => name)).toEqual(
      spl.getExtensionTypes(read.tlvData).map((type) => ExtensionType[type]),
    )
    const fee = spl.getTransferFeeConfig(read)!
    expect(facts.transfer_fee).toEqual({
      basis_points: fee.newerTransferFee.transferFeeBasisPoints,
      maximum_fee: String(fee.newerTransferFee.maximumFee),
      next: null,
      withheld_in_mint: String(fee.withheldAmount),
    })
    expect(facts).toMatchObject({
      transfer_hook: spl.getTransferHook(read)!.programId.toBase58(),
      permanent_delegate: spl.getPermanentDelegate(read)!.delegate.toBase58(),
      frozen_by_default: spl.getDefaultAccountState(read)!.state === spl.AccountState.Frozen,
      paused: spl.getPausableConfig(read)!.paused,
      transferable: spl.getNonTransferable(read) === null,
    })
    expect(Object.fromEntries(facts.authorities.map(({ type, holder }) => [type, holder]))).toEqual({
      mint: addressOf(wallet),
      freeze: addressOf(wallet),
      transfer_fee_config: fee.transferFeeConfigAuthority.toBase58(),
      withheld_withdraw: fee.withdrawWithheldAuthority.toBase58(),
      close: spl.getMintCloseAuthority(read)!.closeAuthority.toBase58(),
      permanent_delegate: key.toBase58(),
      transfer_hook: spl.getTransferHook(read)!.authority.toBase58(),
      pause: spl.getPausableConfig(read)!.authority.toBase58(),
    })
    expect(levels(facts)).toMatchObject({
      permanent_delegate: 'danger',
      transfer_fee: 'warning',
      transfer_hook: 'danger',
      frozen_by_default: 'danger',
      pausable: 'danger',
    })
    for (const { level, finding, remedy } of facts.risks) {
      expect(finding).toMatch(/^[A-Za-z1-9].*\.$/)
      if (level === 'ok') expect(remedy).toBeNull()
    }
  })

  it('says that a pause holds, that a fee rises, and who can still set a hook', async () => {
    const { chain, wallet, land, report } = await opened()
    const extensions: Extension[] = [
      others[0]!,
      others[5]!,
      {
        type: ExtensionType.TransferHook,
        initialize: (mint, of, by) =>
          spl.createInitializeTransferHookInstruction(mint, by, SystemProgram.programId, of),
      },
    ]
    const { mint } = createMint(chain, wallet, { program, extensions })
    const me = wallet.publicKey
    land([spl.createPauseInstruction(mint, me, [], program)], wallet)
    land([spl.createSetTransferFeeInstruction(mint, me, [], 2_500, 10n ** 12n, program)], wallet)
    const facts = await report(mint.toBase58())
    expect(facts.paused).toBe(true)
    expect(facts.transfer_fee).toMatchObject({ basis_points: 123, next: { basis_points: 2_500 } })
    expect(verdict(facts, 'transfer_fee')).toMatchObject({
      level: 'danger',
      finding: expect.stringMatching(/costs 1\.23 % of its amount, and 25 % from epoch \d+ on; \w+ can change it\.$/),
    })
    expect(verdict(facts, 'pausable').finding).toBe(`All transfers are paused, and only ${me} can resume them.`)
    expect(verdict(facts, 'transfer_hook')).toMatchObject({ level: 'warning' })
  })
})

const metaplex = lacking([PROGRAMS.tokenMetadata])
describe.skipIf(metaplex.lacks)(`the report of a mint with Metaplex metadata, ${metaplex.what}`, () => {
  it('has its texts and who may change them, and shows hostile texts clean', async () => {
    const { chain, wallet, land, report } = await opened()
    const { mint } = createMint(chain, wallet)
    const texts = { name: 'Evil\u001b[31m\u202eName', symbol: 'EV\u0007IL', uri: 'https://example.com/a.json' }
    land([await createMetadata(mint, wallet.publicKey, texts)], wallet)
    const facts = await report(mint.toBase58())
    expect(facts.metadata).toEqual({
      name: 'Evil [31m Name',
      symbol: 'EV IL',
      uri: texts.uri,
      source: 'metaplex',
      is_mutable: true,
      update_authority: addressOf(wallet),
    })
    expect(verdict(facts, 'mutable_metadata').level).toBe('warning')
  })
})

describe('the holders of a report', () => {
  const [pool, distributor, escrow] = namedOwners('report vault', 3, false) as [Uint8Array, Uint8Array, Uint8Array]
  const wallets = namedOwners('report wallet', 12)

  it('are not the vaults of raises, which are shown as such', async () => {
    const { chain, report } = await opened()
    const mint = keyOf('raised mint')
    const vault = { owner: new PublicKey(PRESALE_AUTHORITY).toBytes(), amount: 9_000n }
    await putHolders(chain, { mint, holders: [vault, { owner: wallets[0]!, amount: 100n }], supply: 9_100n })
    const facts = await report(mint)
    expect(facts.holders!.top.map(({ amount }) => amount)).toEqual(['100'])
    expect(facts.holders!.parts).toContainEqual(expect.objectContaining({ kind: 'raise_vault', amount: '9000' }))
    expect(verdict(facts, 'large_holder')).toMatchObject({
      level: 'unknown',
      finding: expect.stringContaining('Raises'),
    })
  })

  it('are people and not the vaults of pools, distributors and locks', async () => {
    const { chain, report } = await opened()
    const mint = keyOf('report mint')
    putOwned(chain, pool, PROGRAMS.dbc.id)
    putOwned(chain, distributor, PROGRAMS.distributor.id)
    putOwned(chain, escrow, PROGRAMS.lock.id)
    const authorityBytes = new PublicKey(DAMM_V2_POOL_AUTHORITY).toBytes()
    const vaults = [pool, distributor, escrow, authorityBytes].map((owner) => ({ owner, amount: 2_000n }))
    const holders = [...vaults, ...wallets.map((owner, i) => ({ owner, amount: BigInt(100 + i) }))]
    await putHolders(chain, { mint, holders, supply: 8_000n + 1_266n })
    const facts = await report(mint)
    expect(facts.holders!.holders).toBe(12)
    expect(facts.holders!.parts.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['wallet', '1266'],
      ['damm_v2_vault', '2000'],
      ['dbc_vault', '2000'],
      ['distributor_vault', '2000'],
      ['lock_escrow', '2000'],
    ])
    expect(facts.holders!.top.map(({ wallet }) => wallet)).toEqual(wallets.slice(2).reverse().map(addressOfBytes))
    // Whoever can claim from the distributor may have a fifth of it.
    expect(verdict(facts, 'large_holder')).toMatchObject({ level: 'unknown' })
    expect(verdict(await report(mint, '?holder_limit=22'), 'large_holder')).toMatchObject({ level: 'ok' })
    expect(verdict(await report(mint, '?holder_limit=1'), 'large_holder')).toMatchObject({ level: 'warning' })
  })

  it('are labelled if they are accounts of another program, and count, because nobody knows whose they are', async () => {
    const { chain, report } = await opened()
    const mint = keyOf('report mint of a foreign pool')
    const [vault, derived] = namedOwners('report program', 2, false) as [Uint8Array, Uint8Array]
    putOwned(chain, vault, PROGRAMS.squads.id)
    const people = wallets.map((owner) => ({ owner, amount: 1n }))
    await putHolders(chain, {
      mint,
      holders: [{ owner: vault, amount: 80n }, { owner: derived, amount: 8n }, ...people],
    })
    const facts = await report(mint)
    expect(facts.holders!.top.slice(0, 3)).toMatchObject([
      { wallet: addressOfBytes(vault), kind: 'program', program: PROGRAMS.squads.id, share_bps: 8_000 },
      { wallet: addressOfBytes(derived), kind: 'pda', program: null, share_bps: 800 },
      { kind: 'wallet', program: null },
    ])
    expect(verdict(facts, 'large_holder')).toMatchObject({
      level: 'danger',
      finding: `${addressOfBytes(vault)} holds 80 % of the supply; it is held by the program ${PROGRAMS.squads.id}, such as a multisig or a pool that is not read.`,
    })
    const text = reportText(facts)
    expect(text).toContain(`held by the program ${PROGRAMS.squads.name}`)
    expect(text).toContain('liquidity elsewhere is not counted')
    chain.setAccount(addressOfBytes(vault), {
      lamports: 0n,
      owner: PROGRAMS.squads.id,
      data: new Uint8Array(),
      executable: false,
    })
    expect(verdict(await report(mint), 'large_holder').finding).toContain('it is an address of a program, such as')
  })

  it('come from the newest snapshot if the node shows accounts that do not add up, and the gap says so', async () => {
    const { chain, request, report } = await opened()
    const mint = keyOf('report mint with a snapshot')
    const holders = wallets.map((owner, i) => ({ owner, amount: BigInt(100 + i) }))
    await putHolders(chain, { mint, holders })
    const { json } = await request('POST', '/v2/holder-snapshots', { body: { mint } })
    await putHolders(chain, { mint, holders, supply: 5_000n })
    const facts = await report(mint)
    expect(facts.holders).toMatchObject({ source: 'snapshot', snapshot_id: json.data.id, supply: '1266', holders: 12 })
    expect(facts.holders!.top[0]).toMatchObject({ amount: '111', share_bps: 876 })
    expect(facts.gaps).toEqual([{ part: 'holders', reason: expect.stringMatching(/could not be read whole/) }])
  })

  it('are unknown if there is no snapshot either, and the verdict says how to make one', async () => {
    const { chain, report } = await opened()
    const mint = keyOf('report mint without a snapshot')
    await putHolders(chain, { mint, holders: [{ owner: wallets[0]!, amount: 5n }], supply: 6n })
    const facts = await report(mint)
    expect(facts.holders).toBeNull()
    expect(verdict(facts, 'large_holder')).toMatchObject({
      level: 'unknown',
      remedy: expect.stringMatching(/POST \/v2\/holder-snapshots, `svc airdrops snapshot`/),
    })
  })
})

describe('a report from a node that does not list the accounts of programs', () => {
  it('has every fact of the mint, and says which parts are missing and why', async () => {
    const { chain, services, wallet } = await opened()
    const { mint } = createMint(chain, wallet)
    const refuse = () => Promise.reject(new NodeRefusal(-32010, 'excluded from account secondary indexes', null))
    const node = { ...services.chain, callLarge: refuse }
    const context = { ...services, chain: node } as unknown as Context
    const facts = await getTokenReport(context, { mint: mint.toBase58(), holder_limit: 10 })
    expect(facts).toMatchObject({ supply: '0', holders: null, locks: null, pools: null })
    expect(facts.gaps.map(({ part }) => part)).toEqual(['holders', 'locks', 'pools'])
    for (const { reason } of facts.gaps) expect(reason).toMatch(/does not list the accounts.*set rpc-url to a node/)
    expect(facts.risks.filter(({ level }) => level === 'unknown').map(({ risk }) => risk)).toEqual([
      'unlocked_liquidity',
      'large_holder',
    ])
  })
})

describe('the route of a report', () => {
  it('refuses a text that is not a mint or a percentage, and names the field', async () => {
    const { request, wallet } = await opened()
    const none = await request('GET', `/v2/tokens/${addressOf(wallet)}/report`)
    expect([none.status, none.json.error.param]).toEqual([404, 'mint'])
    for (const limit of ['0', '101', '1.5', 'x', '-1']) {
      const { status, json } = await request('GET', `/v2/tokens/${keyOf('m')}/report?holder_limit=${limit}`)
      expect([status, json.error.param], limit).toEqual([400, 'holder_limit'])
    }
  })
})

const launchPrograms = lacking([PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.lock])
describe.skipIf(launchPrograms.lacks)(`the report of a token that a stranger launched, ${launchPrograms.what}`, () => {
  it('has its curve, then its pool and its vesting', async () => {
    const { chain, wallet, node, report } = await opened()
    const [creator, trader] = [Keypair.generate(), Keypair.generate()]
    for (const each of [creator, trader]) chain.airdrop(addressOf(each), 1_000n * SOL)
    const curve = await openForeignCurve(chain, node, { partner: wallet, creator, trader })
    await curve.trade(SOL / 10n)
    const mint = curve.mint.toBase58()
    const before = await report(mint)
    const state = await curve.state()
    expect(before.pools).toMatchObject({
      found: 1,
      base_amount: String(state.baseReserve),
      sol_amount: String(state.quoteReserve),
      pools: [{ address: curve.pool, type: 'dbc', locked_bps: 10_000, unlocked_bps: 0, migrated_locked_bps: 10_000 }],
    })
    expect(verdict(before, 'unlocked_liquidity').level).toBe('ok')
    expect(before.metadata).toMatchObject({ name: 'Coin', symbol: 'COIN', uri: 'https://example.com/coin.json' })
    expect(levels(before)).toEqual({})
    await curve.trade(5n * SOL)
    await curve.migrate()
    const after = await report(mint)
    expect(after.pools!.pools).toMatchObject([
      { address: curve.dammPool, type: 'damm_v2', locked_bps: 10_000, vesting_bps: 0, unlocked_bps: 0 },
    ])
    expect(verdict(after, 'unlocked_liquidity')).toMatchObject({ level: 'ok' })
    const held = (await spl.getAccount(node, curve.tokens(new PublicKey(curve.escrow)))).amount
    expect(held).toBe(100_000_000_000n)
    expect(after.locks).toMatchObject({
      locks: 1,
      locked: '0',
      vesting: String(held),
      claimable: '0',
      cancellable: '0',
    })
    expect(after.locks!.largest).toMatchObject([
      { address: curve.escrow, recipient: addressOf(creator), amount: String(held), ends_at: after.locks!.last_at },
    ])
    expect(after.holders!.parts.find(({ kind }) => kind === 'lock_escrow')).toMatchObject({ amount: String(held) })
    expect(after.gaps).toEqual([])
  })
})

describe.skipIf(!HAS_DAMM_V2)('the liquidity of a report, in a pool that a stranger opened on DAMM v2', () => {
  it('is withdrawable at first, then partly locked for good, and partly until later', async () => {
    const { chain, wallet, land, report } = await opened()
    const [mint, positionNft] = [Keypair.generate(), Keypair.generate()]
    const test = {
      chain,
      send: (instructions: TransactionInstruction[], signers: Keypair[]) => run(chain, instructions, signers),
    } as unknown as TestChain
    const pool = await openStrangersPool(test, { creator: wallet, mint, positionNft })
    const facts = await report(addressOf(mint))
    expect(facts.pools!.pools).toMatchObject([
      { address: pool, type: 'damm_v2', locked_bps: 0, vesting_bps: 0, unlocked_bps: 10_000 },
    ])
    expect(verdict(facts, 'unlocked_liquidity')).toMatchObject({ level: 'danger' })
    const client = new cpAmm.CpAmm(undefined as never)
    const [position, positionNftAccount] = [
      cpAmm.derivePositionAddress(positionNft.publicKey),
      cpAmm.derivePositionNftAccount(positionNft.publicKey),
    ]
    const state = client._program.coder.accounts.decode(
      'position',
      Buffer.from(chain.account(position.toBase58())!.data),
    )
    const all: BN = state.unlockedLiquidity
    const common = { owner: wallet.publicKey, pool: new PublicKey(pool), position, positionNftAccount }
    const lock = await client.permanentLockPosition({ ...common, unlockedLiquidity: all.divn(4) })
    land(lock.instructions, wallet)
    const quarter = await report(addressOf(mint))
    expect(quarter.pools!.pools[0]).toMatchObject({ locked_bps: 2_499, vesting_bps: 0, unlocked_bps: 7_501 })

    const cliff = Date.parse(quarter.at!) / 1_000 + 1_000
    const part = all.divn(4)
    const schedule = {
      ...{ payer: wallet.publicKey, ...common, cliffPoint: new BN(cliff), periodFrequency: new BN(1_000) },
      ...{ cliffUnlockLiquidity: part.divn(2), liquidityPerPeriod: part.divn(20), numberOfPeriod: 10 },
    }
    const vestingAccount = Keypair.generate()
    const added = await client.lockPosition({ ...schedule, vestingAccount: vestingAccount.publicKey })
    land(added.instructions, wallet, vestingAccount)
    const inner = await client.lockPosition({ ...schedule, innerPosition: true })
    land(inner.instructions, wallet)
    const shares = async () => {
      const { pools } = await report(addressOf(mint))
      const { locked_bps, vesting_bps, unlocked_bps } = pools!.pools[0]!
      return [locked_bps, vesting_bps, unlocked_bps]
    }
    expect(await shares()).toEqual([2_499, 4_999, 2_502])
    expect(verdict(await report(addressOf(mint)), 'unlocked_liquidity').level).toBe('warning')
    // Half of both schedules is due at the cliff, and a tenth of the rest with each period, released or not.
    chain.advance(1_000)
    expect(await shares()).toEqual([2_499, 2_499, 5_002])
    chain.advance(5_000)
    const middle = await shares()
    const refreshed = await client.refreshVesting({ ...common, vestingAccounts: [vestingAccount.publicKey] })
    land(refreshed.instructions, wallet)
    expect(await shares()).toEqual(middle)
    chain.advance(20_000)
    expect(await shares()).toEqual([2_499, 0, 7_501])
  })
})
