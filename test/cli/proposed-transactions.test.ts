/** `svc proposals create` and `POST /v2/proposals`: a transaction of any origin becomes an act of a vault, exactly as it was given. */
import { createFreezeAccountInstruction } from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { instructions } from '@sqds/multisig'
import { beforeAll, describe, expect, it } from 'vitest'
import { innerInstructions } from '../../src/chain/programs/squads/execution-rehearsal.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { innerMessageOf, vaultAddress } from '../../src/solana/squads/index.ts'
import { png } from '../storage/images.ts'
import { V1_CONFIG } from '../support/local-chain.ts'
import { signed } from '../support/local-chain-transactions.ts'
import { itInSoak } from '../support/runs.ts'
import { lookupTable } from '../support/squads.ts'
import { lacksTreasury } from '../support/treasury.ts'
import { CONFIRMED, commandLine } from './command-line.ts'
import type { Served } from './served.ts'
import { vaultOf } from './vault.ts'

const cli = commandLine()
const SPLITS = 12

describe.skipIf(lacksTreasury)(`A transaction of any origin${lacksTreasury}`, () => {
  const scene = vaultOf(cli)
  const { ada, ben, cy } = scene
  const trader = cli.keypair('trader.json')
  let daemon: Served
  let [multisig, vault, pool] = ['', '', '']
  let claims = 0

  beforeAll(async () => {
    await scene.open()
    await scene.fund(trader.address)
    multisig = scene.multisig
    vault = scene.address
    expect(vault).toBe(vaultAddress(multisig, 0))
    daemon = await scene.serve({ SVC_PLATFORM_WALLET: vault })
    const token = ['--name', 'My Token', '--symbol', 'MTK', '--image', cli.file('image.png', png())]
    pool = (await cli.json(['pools', 'create', ...token, '-k', trader.file])).address
  })

  const balance = async (wallet: string) => BigInt((await cli.json(['wallet', 'balance', wallet])).lamports)

  /** The fees of one trade, the claim of them, and their split among twelve wallets. */
  async function splitClaim() {
    await cli.json(['pools', 'swap', pool, '--buy', '10', '-k', trader.file])
    const recipients = Array.from({ length: SPLITS }, () => Keypair.generate().publicKey)
    for (const key of recipients) await cli.json(['localnet', 'airdrop', key.toBase58(), '1'])
    const body = { payer: vault }
    const { json } = await daemon.request('POST', `/v2/pools/${pool}/fee-claims`, { body })
    const quote = BigInt(json.data.estimated_quote)
    const share = quote / BigInt(SPLITS)
    const shares = recipients.map((_, i) => (i === 0 ? quote - share * BigInt(SPLITS - 1) : share))
    const built = await cli.json(['fees', 'claim', pool, '--payer', vault, '--build-only'])
    const { message } = decodeWireTransaction(Buffer.from(built.transaction, 'base64'))
    const claim = await innerInstructions(innerMessageOf({ message }, { vault }))
    const { transaction } = compileTransaction({
      payer: new PublicKey(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [
        ...claim,
        ...recipients.map((toPubkey, i) =>
          SystemProgram.transfer({ fromPubkey: new PublicKey(vault), toPubkey, lamports: shares[i]! }),
        ),
      ],
      config: V1_CONFIG,
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    return {
      transaction: Buffer.from(transaction).toString('base64'),
      tracked_resource: built.tracked_resource,
      wallets: recipients.map((key) => key.toBase58()),
      shares,
    }
  }

  const step = (verb: string, id: string, by: { file: string }) =>
    cli.json(['proposals', verb, id, '-k', by.file, '--yes'])

  /** Two members approve, one executes; each recipient has its share, and the vault has paid nothing of its own. */
  async function expectPaid(id: string, { wallets, shares }: Awaited<ReturnType<typeof splitClaim>>) {
    const [own, ...before] = await Promise.all([vault, ...wallets].map(balance))
    for (const by of [ben, cy]) await step('approve', id, by)
    const body = { member: cy.address, tx_version: 1 }
    const { json: execution } = await daemon.request('POST', `/v2/proposals/${id}/executions`, { body })
    const guarded = execution.data.guard.wallets.map(({ address }: { address: string }) => address)
    expect([execution.data.guard.state, guarded]).toEqual(['whole', [cy.address, vault]])
    expect(await step('execute', id, cy)).toMatchObject({ lifecycle: CONFIRMED })
    const [left, ...after] = await Promise.all([vault, ...wallets].map(balance))
    expect(after.map((lamports, i) => lamports - before[i]!)).toEqual(shares)
    expect(left).toBe(own)
    await cli.refused(['proposals', 'execute', id, '-k', ben.file, '--yes'], 'is executed', 2)
    const { json } = await daemon.request('GET', `/v2/pools/${pool}/fee-claims`)
    expect(json.data.map(({ type }: { type: string }) => type)).toEqual(
      Array.from({ length: ++claims }, () => 'fee_claim.split_executed'),
    )
  }

  itInSoak(
    'that claims fees and splits them among twelve is proposed by command line through a buffer, and executed once',
    async () => {
      const { wallets, shares, ...claim } = await splitClaim()
      const file = cli.file('claim.json', JSON.stringify(claim))
      const create = ['proposals', 'create', `@${file}`, '--squads', multisig]
      const dry = await cli.svc([...create, '-k', ada.file, '--dry-run'])
      expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining('Nothing was signed')])
      const printed = await cli.json([...create, '--payer', ada.address, '--build-only'])
      expect(printed).toMatchObject({ missing_signers: [ada.address], vault_messages: [expect.any(String)] })
      expect(printed.transactions.length).toBeGreaterThan(1)
      const ran = await cli.svc([...create, '-k', ada.file, '--json'])
      expect(ran.exitCode, ran.stderr).toBe(0)
      const made = JSON.parse(ran.stdout)
      expect(made).toMatchObject({ multisig, vault, proposal_status: 'active', approvals_needed: 2 })
      expect(made.signatures).toHaveLength(printed.transactions.length)
      const shown = await cli.json(['proposals', 'show', made.proposal])
      expect(shown).toMatchObject({ operation: 'POST /v2/proposals', message_sha256: made.message_sha256, fault: null })
      await expectPaid(made.proposal, { ...claim, wallets, shares })
    },
  )

  itInSoak('that claims fees and splits them among twelve is proposed over HTTP, and executed once', async () => {
    const { wallets, shares, ...claim } = await splitClaim()
    const body = { ...claim, approver: { kind: 'squads', multisig, member: ada.address } }
    const { status, json } = await daemon.request('POST', '/v2/proposals', { body })
    expect([status, json.error]).toEqual([201, undefined])
    const { id, transactions } = json.data.proposal
    for (const transaction of transactions) {
      const signed = await cli.json(['tx', 'sign', transaction, '-k', ada.file])
      await cli.json(['tx', 'submit', signed.transaction])
    }
    await expect
      .poll(async () => (await daemon.request('GET', `/v2/proposals/${id}`)).json.data.status, { timeout: 60_000 })
      .toBe('active')
    await expectPaid(id, { ...claim, wallets, shares })
  })

  it('that gives away the vault itself or freezes tokens says whom it is about, when it is decoded and proposed', async () => {
    const { transaction } = compileTransaction({
      payer: new PublicKey(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [
        SystemProgram.assign({ accountPubkey: new PublicKey(vault), programId: trader.keypair.publicKey }),
        createFreezeAccountInstruction(new PublicKey(pool), trader.keypair.publicKey, new PublicKey(vault)),
      ],
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    const text = Buffer.from(transaction).toString('base64')
    const create = ['proposals', 'create', text, '--squads', multisig, '-k', ada.file, '--dry-run']
    const decoded = await cli.svc(['tx', 'decode', text])
    const proposed = await cli.svc(create)
    const gains = `0: ${vault} (this vault) goes to the program ${trader.address}, which alone decides`
    const one = (shown: string) => shown.replace(/\s+/g, ' ')
    expect(one(decoded.stdout)).toContain(gains.replace(' (this vault)', ''))
    expect(one(proposed.stdout + proposed.stderr)).toContain(gains)
    for (const shown of [decoded.stdout, proposed.stdout + proposed.stderr]) {
      expect(shown).toMatch(new RegExp(`ws {2}${vault} {2}account`))
      expect(shown).toMatch(new RegExp(`w- {2}${pool} {2}account`))
      expect(shown).toMatch(new RegExp(`-- {2}${trader.address} {2}mint`))
    }
  })

  it('is refused if another wallet pays for it, if it is none, and without a multisig', async () => {
    const { transaction } = compileTransaction({
      payer: trader.keypair.publicKey,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [
        SystemProgram.transfer({ fromPubkey: trader.keypair.publicKey, toPubkey: new PublicKey(vault), lamports: 1 }),
      ],
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    const create = (text: string, ...more: string[]) => ['proposals', 'create', text, '-k', ada.file, ...more]
    const text = Buffer.from(transaction).toString('base64')
    await cli.refused(create(text, '--squads', multisig), `${trader.address} pays for the transaction`)
    await cli.refused(create('AAAA', '--squads', multisig), 'is not a base64 versioned transaction')
    await cli.refused(create(text), 'a proposal needs its multisig')
    await cli.refused(create(text, '--squads', 'none'), 'a proposal needs its multisig')
  })

  const number = async () => Number((await cli.json(['multisig', 'show', multisig])).transaction_index)
  const carryOut = async (id: string) => {
    for (const by of [ben, cy]) await cli.json(['proposals', 'approve', id, '-k', by.file])
    return cli.json(['proposals', 'execute', id, '-k', cy.file])
  }
  const payments = (count: number) => Array.from({ length: count }, () => Keypair.generate().publicKey)
  const paying = (to: readonly PublicKey[]) =>
    new TransactionMessage({
      payerKey: new PublicKey(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: to.map((toPubkey) =>
        SystemProgram.transfer({ fromPubkey: new PublicKey(vault), toPubkey, lamports: 2_000_000 }),
      ),
    })

  it.each([1, 2, 22])(
    "of Squads' own client with %i accounts in a lookup table is imported, approved and executed",
    async (count) => {
      const chain = await daemon.local()
      const to = payments(count)
      const table = lookupTable({ chain }, to)
      const at = {
        multisigPda: new PublicKey(multisig),
        transactionIndex: BigInt((await number()) + 1),
        creator: ada.keypair.publicKey,
      }
      const terms = {
        vaultIndex: 0,
        ephemeralSigners: 0,
        transactionMessage: paying(to),
        addressLookupTableAccounts: [table],
      }
      for (const instruction of [
        instructions.vaultTransactionCreate({ ...at, ...terms }),
        instructions.proposalCreate(at),
      ]) {
        chain.advance(1)
        const { err, logs } = chain.send(
          signed([instruction], [ada.keypair], { blockhash: chain.latestBlockhash().blockhash }),
        )
        expect(err, logs.join('\n')).toBeNull()
      }
      const { id } = await cli.json(['proposals', 'import', multisig, String(at.transactionIndex)])
      expect(await carryOut(id)).toMatchObject({ proposal_status: 'executed' })
      expect(to.map((key) => chain.account(key.toBase58())?.lamports)).toEqual(to.map(() => 2_000_000n))
    },
  )

  itInSoak(
    'may take accounts from a lookup table, which have to stay what they were when it was proposed',
    async () => {
      const chain = await daemon.local()
      const [first, other] = [payments(3), payments(3)]
      const table = lookupTable({ chain }, first)
      const raw = new VersionedTransaction(paying(first).compileToV0Message([table])).serialize()
      const create = ['proposals', 'create', Buffer.from(raw).toString('base64'), '--squads', multisig, '-k', ada.file]
      const propose = async () => (await cli.json(create)).proposal
      const changed = await propose()
      // Each reader sees the addresses with their roles, and where they come from.
      const text = create[2]!
      const places = first.map((each, i) => ({ place: `${table.key}[${i}]`, address: each.toBase58() }))
      const decoded = await cli.json(['tx', 'decode', text])
      expect(decoded.loaded_addresses).toEqual(places)
      expect(decoded.instructions.map((each: { accounts: object[] }) => each.accounts[1])).toEqual(
        first.map((each) => ({ address: each.toBase58(), signer: false, writable: true, role: 'destination' })),
      )
      const shown = [await cli.svc(['tx', 'decode', text]), await cli.svc(['proposals', 'show', changed])]
      for (const { stdout } of shown) {
        for (const { place, address } of places) {
          expect(stdout).toContain(`  ${place}\n    ${address}\n`)
          expect(stdout).toMatch(new RegExp(`  w-  ${address}\\s+destination`))
        }
      }
      const offline = await cli.json(['tx', 'decode', text, '--offline'])
      expect(offline.instructions[0].accounts[1].address).toBe(places[0]!.place)
      expect(offline).not.toHaveProperty('loaded_addresses')
      const { plan } = await cli.json(['proposals', 'show', changed])
      for (const { place, address } of places)
        expect([plan.join().includes(place), plan.join().includes(address)]).toEqual([false, true])
      const { key } = table
      const account = chain.account(key.toBase58())!
      const data = Buffer.from(account.data)
      for (const [i, each] of other.entries()) data.set(each.toBytes(), 56 + 32 * i)
      chain.setAccount(key.toBase58(), { ...account, data })
      await cli.refused(['proposals', 'approve', changed, '-k', ben.file, '--yes'], 'is not what was planned', 2)
      chain.setAccount(key.toBase58(), account)
      const id = await propose()
      expect(await carryOut(id)).toMatchObject({ proposal_status: 'executed' })
      expect(first.map((each) => chain.account(each.toBase58())?.lamports)).toEqual(first.map(() => 2_000_000n))
    },
  )

  it('that gives away accounts of a lookup table says their addresses, and names a table that cannot be read', async () => {
    const chain = await daemon.local()
    const [thief, account] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
    const table = lookupTable({ chain }, [account])
    const message = new TransactionMessage({
      payerKey: new PublicKey(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [createFreezeAccountInstruction(account, thief, new PublicKey(vault))],
    }).compileToV0Message([table])
    const text = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
    const body = { transaction: text, approver: { kind: 'squads', multisig, member: ada.address } }
    const { json } = await daemon.request('POST', '/v2/proposals', { body })
    const { what } = await cli.json(['proposals', 'show', json.data.proposal.id])
    expect(what).toContain(`${account} is frozen`)
    const sentence = `0: ${account} is frozen`
    expect((await cli.svc(['tx', 'decode', text])).stdout.replace(/\s+/g, ' ')).toContain(sentence)

    const lost = chain.account(table.key.toBase58())!
    chain.setAccount(table.key.toBase58(), { ...lost, data: lost.data.subarray(0, 56) })
    const { stdout } = await cli.svc(['tx', 'decode', text])
    expect(stdout).toContain(`  ${table.key}[0]\n    not known: the table cannot be read\n`)
    chain.setAccount(table.key.toBase58(), lost)
  })

  itInSoak('with a lookup table is proposed by a vault without SOL, whose executor pays the fee', async () => {
    const chain = await daemon.local()
    const members = ['--member', `${ada.address},${ben.address},${cy.address}`, '--threshold', '2']
    const empty = await cli.json(['multisig', 'create', ...members, '-k', ada.file])
    expect(chain.account(empty.vault)).toBeNull()
    const to = payments(3)
    const fromPubkey = new PublicKey(empty.vault)
    const message = new TransactionMessage({
      payerKey: fromPubkey,
      recentBlockhash: chain.latestBlockhash().blockhash,
      instructions: to.map((toPubkey) => SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 0 })),
    }).compileToV0Message([lookupTable({ chain }, to)])
    const raw = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
    const { proposal } = await cli.json(['proposals', 'create', raw, '--squads', empty.multisig, '-k', ada.file])
    expect(await carryOut(proposal)).toMatchObject({ proposal_status: 'executed' })
  })
})
