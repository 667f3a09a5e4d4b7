/** What the page of a raise reads, believes and plans, without a browser: on the real program. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { merkleRootAddress } from '../../src/chain/programs/presale/index.ts'
import { PageFault } from '../../src/claim-page/browser/page-fault.ts'
import { transactionOf } from '../../src/claim-page/browser/planned-transaction.ts'
import { raiseSubjectOf, readCaps } from '../../src/claim-page/browser/raise/raise-files.ts'
import { amountsOf, arriving, planAct, type RaiseAct } from '../../src/claim-page/browser/raise/raise-plan.ts'
import { readRaise, readRaiseState } from '../../src/claim-page/browser/raise/raise-state.ts'
import { SolanaNode } from '../../src/claim-page/browser/solana-node.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { serveFaultyRpc } from '../support/faulty-rpc.ts'
import { run } from '../support/gold.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { withFee } from '../support/locks.ts'
import { allowlistFiles, openSolRaise, openToList, raiseFiles, type SolRaise } from '../support/raise-site.ts'
import { lacksPresale, sdk } from '../support/raises.ts'
import { startService } from '../support/service.ts'
import { signV1 } from '../support/version1.ts'
import { addressOf, SOL, walletOn } from '../support/wallets.ts'

const TEXTS = resolve(import.meta.dirname, '../../src/claim-page/browser/raise/texts')

it('has every text of the page of a raise in both languages, with the same placeholders', () => {
  const read = (language: string): Record<string, string> =>
    JSON.parse(readFileSync(`${TEXTS}/${language}.json`, 'utf8'))
  const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([each]) => each).sort()
  const [english, german] = [read('en'), read('de')]
  expect(Object.keys(german)).toEqual(Object.keys(english))
  for (const [key, text] of Object.entries(german)) {
    expect([key, placeholders(text)]).toEqual([key, placeholders(english[key]!)])
    expect(text.trim(), key).not.toBe('')
  }
})

/** A chain, a node of it whose answers a test can replace, and a buyer. */
async function chainWithNode() {
  const service = await startService()
  const { chain } = await walletOn(service.services)
  const rpc = await serveFaultyRpc(chain)
  onTestFinished(() => rpc.close())
  const buyer = Keypair.generate()
  chain.airdrop(addressOf(buyer), 20n * SOL)
  return { chain, rpc, node: new SolanaNode([rpc.url], chain.genesisHash), buyer, wallet: addressOf(buyer) }
}

const subjectOf = (chain: LocalChain, { id }: SolRaise, rpc: string) =>
  raiseSubjectOf(JSON.parse(String(raiseFiles(chain.genesisHash, id, rpc).get('raise.json'))))

async function read(it: World, made: SolRaise, files = new Map<string, Buffer>()) {
  const raise = await readRaise(it.node, made.id)
  const file = async (path: string) => {
    const bytes = files.get(path)
    if (bytes === undefined) throw new PageFault('fileMissing', { file: path })
    return JSON.parse(String(bytes))
  }
  const caps = await readCaps(raise, it.wallet, file)
  const subject = subjectOf(it.chain, made, it.rpc.url)
  return readRaiseState(it.node, { raise, subject }, { address: it.wallet, caps })
}

type World = Awaited<ReturnType<typeof chainWithNode>>

/** Lands an act as the page plans it, and answers what the program was asked to do. */
async function land(it: World, made: SolRaise, act: RaiseAct, amount = 0n, files?: Map<string, Buffer>, round = 0) {
  const state = await read(it, made, files)
  const { instructions, expected = [] } = planAct(state, state.wallet!.parts[round]!, act, amount)
  const { err, logs } = run(it.chain, instructions.map(sdk), [it.buyer])
  expect(err, logs.join('\n')).toBeNull()
  for (const { address, least, of } of expected) {
    const account = it.chain.account(address)
    expect(of(account && { ...account, lamports: BigInt(account.lamports) }), address).toBeGreaterThanOrEqual(least)
  }
  return logs.flatMap((line) => /^Program log: Instruction: (\w+)$/.exec(line)?.[1] ?? [])
}

/** A module of the page that also knows the browser, for which tests are not compiled. */
const load = (name: string) =>
  import(/* @vite-ignore */ resolve(import.meta.dirname, '../../src/claim-page/browser', `${name}.ts`))

const fault = (key: string) => expect.objectContaining({ key })

describe.skipIf(lacksPresale !== '')(`the page of a raise ${lacksPresale}`, () => {
  it('plans each act as the program takes it, and the account is closed with the last one', async () => {
    const it = await chainWithNode()
    const made = openSolRaise(it.chain)
    expect(await land(it, made, 'deposit', 3n * SOL)).toEqual(['CreatePermissionlessEscrow', 'Deposit'])
    expect(await land(it, made, 'deposit', SOL)).toEqual(['Deposit'])
    expect(await land(it, made, 'withdraw', SOL)).toEqual(['Withdraw'])
    await expect(land(it, made, 'claim')).rejects.toEqual(fault('effectDiffers'))
    await expect(land(it, made, 'deposit', 3n * SOL)).rejects.toEqual(fault('effectDiffers'))
    it.chain.advance(3_601)
    expect(await land(it, made, 'claim')).toEqual(['Claim', 'CloseEscrow'])
    expect((await read(it, made)).wallet!.parts[0]!.escrow).toBeNull()

    const failing = openSolRaise(it.chain)
    await land(it, failing, 'deposit', SOL)
    it.chain.advance(3_601)
    expect(await land(it, failing, 'refund')).toEqual(['WithdrawRemainingQuote', 'CloseEscrow'])
    expect((await read(it, failing)).wallet!.parts[0]!.escrow).toBeNull()
  })

  it('claims in parts while tokens vest, and with the fee of the token what it shows', async () => {
    const it = await chainWithNode()
    const vesting = openSolRaise(it.chain, { lockSeconds: 600n, vestingSeconds: 1_200n, releaseBps: 2_500 })
    await land(it, vesting, 'deposit', 3n * SOL)
    for (const seconds of [3_601, 1_200]) {
      it.chain.advance(seconds)
      expect(await land(it, vesting, 'claim')).toEqual(['Claim'])
    }
    it.chain.advance(1_200)
    expect(await land(it, vesting, 'claim')).toEqual(['Claim', 'CloseEscrow'])

    const taxed = openSolRaise(it.chain, { options: withFee(100, 10n ** 12n) })
    await land(it, taxed, 'deposit', 3n * SOL)
    it.chain.advance(3_601)
    const state = await read(it, taxed)
    const shown = arriving(state, amountsOf(state, state.wallet!.parts[0]!).claim.now)
    expect(await land(it, taxed, 'claim')).toEqual(expect.arrayContaining(['Claim', 'CloseEscrow']))
    expect(shown).toBe(296_999_999_999n)
    expect((await read(it, taxed)).wallet!.tokens.state?.amount).toBe(shown)
  })

  it('says who has power over the token, and calls no other token SOL', async () => {
    const it = await chainWithNode()
    const free = openSolRaise(it.chain)
    expect((await read(it, free)).token.isFree).toBe(true)
    // Its holder can raise the fee to everything before buyers claim.
    const taxed = openSolRaise(it.chain, { options: withFee(0, 0n) })
    expect((await read(it, taxed)).token.isFree).toBe(false)
    const program = new PublicKey(PROGRAMS.tokenMetadata.id)
    const mint = new PublicKey(free.mint)
    const [metadata] = PublicKey.findProgramAddressSync(
      [Buffer.from('metadata'), program.toBytes(), mint.toBytes()],
      program,
    )
    const symbolNamed = async (symbol: string) => {
      const texts = ['Solana', symbol, ''].flatMap((text) => [Buffer.of(text.length, 0, 0, 0), Buffer.from(text)])
      const data = Buffer.concat([Buffer.of(4), mint.toBytes(), mint.toBytes(), ...texts, Buffer.alloc(32)])
      it.chain.setAccount(metadata.toBase58(), {
        lamports: SOL,
        data,
        owner: PROGRAMS.tokenMetadata.id,
        executable: false,
      })
      return (await read(it, free)).token.symbol
    }
    expect(await symbolNamed('SALE')).toBe('SALE')
    for (const symbol of ['SOL', 'wSol'])
      expect(await symbolNamed(symbol)).toBe(`${free.mint.slice(0, 4)}…${free.mint.slice(-4)}`)
  })

  it('pays no other amount than was typed if a node lies about decimals', async () => {
    const it = await chainWithNode()
    const request = () => Promise.reject(new Error('nothing is asked'))
    const sold = await listedRaise(
      { local: async () => it.chain, request, visit: request },
      { allowlist: 'none', rounds: [{ supply: 1_000_000n }] },
    )
    const buyer = sold.buyer()
    const own = { ...it, buyer: buyer.key, wallet: addressOf(buyer.key) }
    const made = { id: sold.place.address, mint: sold.place.mint, creator: sold.creator }
    expect(await land(own, made, 'deposit', 1_000n)).toEqual(['CreatePermissionlessEscrow', 'Deposit'])
    const other = await read(own, made)
    const lied = { ...other, quote: { ...other.quote, decimals: other.quote.decimals + 3 } }
    const { instructions } = planAct(lied, lied.wallet!.parts[0]!, 'deposit', 1_000n)
    expect(run(it.chain, instructions.map(sdk), [buyer.key]).err).not.toBeNull()
    // Those of SOL are known.
    const account = it.chain.account(WRAPPED_SOL)!
    const data = Buffer.from(account.data)
    data[44] = 12
    it.chain.setAccount(WRAPPED_SOL, { ...account, data })
    expect((await read(it, openSolRaise(it.chain))).quote.decimals).toBe(9)
  })

  it('deposits nothing more if an earlier deposit was still on its way', async () => {
    const [{ RaiseSession }, { keepPendingClaim }] = [await load('raise/raise-session'), await load('pending-claims')]
    const it = await chainWithNode()
    const made = openSolRaise(it.chain)
    const subject = subjectOf(it.chain, made, it.rpc.url)
    const texts = { tokens: String, text: String } as never
    const session = new RaiseSession(subject, { rpc: [it.rpc.url] } as never, texts, () => {})
    let asked = 0
    const sign = async (transaction: Uint8Array) => {
      asked += 1
      return signV1(transaction, [it.buyer])
    }
    const wallet = { name: 'Test', address: it.wallet, version: 0 as const, canSign: true, sign } as never
    await session.look(it.wallet, wallet)
    expect(session.fault).toBeNull()
    await session.act('deposit', 0, SOL)
    expect([asked, session.confirmed.length, session.state!.raise.deposited]).toEqual([1, 1, SOL])
    // Another tab has signed, and its deposit is not confirmed yet.
    const { blockhash } = it.chain.latestBlockhash()
    const state = session.state!
    const planned = planAct(state, state.wallet!.parts[0]!, 'deposit', SOL)
    const bytes = signV1(transactionOf(it.wallet, planned, 0n, blockhash, 0), [it.buyer])
    const { signature } = decodeWireTransaction(bytes)
    const pending = { wallet: it.wallet, signature: signature!, transaction: Buffer.from(bytes).toString('base64') }
    keepPendingClaim({ ...pending, lastValidBlockHeight: 2 ** 40 }, it.chain.genesisHash)
    await session.act('deposit', 0, SOL)
    expect(session.fault).toBeNull()
    expect([asked, session.state!.raise.deposited]).toEqual([1, 2n * SOL])
    expect(session.confirmed.at(-1)).toMatchObject({ signature, message: { key: 'confirmedEarlier' } })
    await session.act('deposit', 0, SOL)
    expect([asked, session.state!.raise.deposited]).toEqual([2, 3n * SOL])
  })

  it('deposits in each round up to its cap', async () => {
    const it = await chainWithNode()
    const round = { supply: 500n * 10n ** 9n, buyerMin: 1n, buyerMax: 10n * SOL, feeBps: 100 }
    const made = openSolRaise(it.chain, { allowlist: 'merkle', mode: 'pro_rata', rounds: [round, round] })
    const caps = [SOL, 2n * SOL]
    const lines = caps.map((cap, index) => ({ wallet: it.wallet, round: index, cap }))
    const { files } = allowlistFiles(merkleRootAddress(made.id, 0n), lines)
    const before = (await read(it, made, files)).wallet!.parts
    expect(before.map(({ listed, isWaiting }) => [listed, isWaiting])).toEqual(caps.map(() => [null, true]))
    await expect(land(it, made, 'deposit', SOL, files)).rejects.toEqual(fault('notInRound'))
    openToList(it.chain, made, lines)
    for (const [index, cap] of caps.entries()) {
      await expect(land(it, made, 'deposit', cap + 1n, files, index)).rejects.toEqual(fault('effectDiffers'))
      expect(await land(it, made, 'deposit', cap, files, index)).toContain('Deposit')
    }
    const { parts } = (await read(it, made, files)).wallet!
    expect(parts.map(({ escrow }) => escrow?.deposited)).toEqual(caps)
    // A longer list that is not open yet leaves a buyer what it has.
    const longer = allowlistFiles(merkleRootAddress(made.id, 1n), [{ wallet: it.wallet, round: 0, cap: 5n * SOL }])
    expect(await land(it, made, 'withdraw', SOL, longer.files)).toEqual(['Withdraw'])
  })

  it('deposits with a proof, and believes no false one', async () => {
    const it = await chainWithNode()
    const rounds = [{ supply: 1_000n * 10n ** 9n, buyerMin: 1n, buyerMax: 10n * SOL, feeBps: 100 }]
    const made = openSolRaise(it.chain, { allowlist: 'merkle', rounds })
    await expect(land(it, made, 'deposit', SOL)).rejects.toEqual(fault('notInRound'))
    const other = addressOf(Keypair.generate())
    const files = openToList(it.chain, made, [
      { wallet: it.wallet, round: 0, cap: SOL },
      { wallet: other, round: 0, cap: 2n * SOL },
    ])
    const [own, others] = [it.wallet, other].map((wallet) => JSON.parse(String(files.get(`0/${wallet}`))))
    const told = (line: object) => new Map([[`0/${it.wallet}`, Buffer.from(JSON.stringify(line))]])
    for (const line of [{ ...own, deposit_cap: Number(2n * SOL) }, others, { ...own, proof: [] }]) {
      await expect(read(it, made, told(line))).rejects.toEqual(fault('capUnproven'))
    }
    await expect(read(it, made, told({ ...own, merkle_root_config: made.id }))).rejects.toEqual(fault('capUnproven'))
    for (const line of [{ ...own, proof: [[1]] }, { ...own, deposit_cap: -1 }, { ...own, proof: 'x' }, {}]) {
      await expect(read(it, made, told(line))).rejects.toEqual(fault('fileDamaged'))
    }
    expect(await land(it, made, 'deposit', SOL, files)).toEqual(['CreatePermissionedEscrowWithMerkleProof', 'Deposit'])
  })

  it('refuses the account of another program, a raise with parts of another, and a node that lies', async () => {
    const it = await chainWithNode()
    const [made, other] = [openSolRaise(it.chain), openSolRaise(it.chain)]
    await expect(readRaise(it.node, made.mint)).rejects.toEqual(fault('raiseForeign'))
    await expect(readRaise(it.node, addressOf(Keypair.generate()))).rejects.toEqual(fault('raiseNotOnChain'))
    const account = it.chain.account(other.id)!
    const data = [Buffer.from(account.data).toString('base64'), 'base64']
    const lie = (value: unknown[]) => (method: string) =>
      method === 'getMultipleAccounts' ? { result: { context: { slot: 1 }, value } } : undefined
    // The whole account of another raise at this address: its vaults do not follow from the address.
    it.rpc.answer = lie([{ owner: account.owner, lamports: 1, data }])
    await expect(readRaise(it.node, made.id)).rejects.toEqual(fault('raiseForeign'))
    it.rpc.answer = lie([{ owner: addressOf(Keypair.generate()), lamports: 1, data }])
    await expect(readRaise(it.node, made.id)).rejects.toEqual(fault('raiseForeign'))
    // The next answer is another raise: none of its parts is believed.
    it.rpc.answer = () => undefined
    const raise = await readRaise(it.node, made.id)
    it.rpc.answer = (method, [asked]) => {
      const accounts = (asked as string[]).map((address) => it.chain.account(address === made.id ? other.id : address))
      const value = accounts.map(
        (each) =>
          each && {
            ...each,
            lamports: Number(each.lamports),
            data: [Buffer.from(each.data).toString('base64'), 'base64'],
          },
      )
      return method === 'getMultipleAccounts' ? { result: { context: { slot: 1 }, value } } : undefined
    }
    const subject = subjectOf(it.chain, made, it.rpc.url)
    await expect(readRaiseState(it.node, { raise, subject }, null)).rejects.toEqual(fault('raiseForeign'))
    it.rpc.answer = lie([])
    await expect(readRaise(it.node, made.id)).rejects.toEqual(fault('nodeStrange'))
    it.rpc.answer = (method) => (method === 'getGenesisHash' ? { result: made.mint } : undefined)
    const elsewhere = new SolanaNode([it.rpc.url], it.chain.genesisHash)
    await expect(readRaise(elsewhere, made.id)).rejects.toEqual(fault('wrongCluster'))
    expect(() => raiseSubjectOf({ format: 'svc-raise-page/1', raise: 'x' })).toThrow()
  })
})
