/** What the embedded chain keeps in its folder: journal, lock, programs, and that a reopened chain is the same chain. */
import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ChainLockedError, openLocalChain } from '../../src/localnet/index.ts'
import { openJournal } from '../../src/localnet/journal.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { addressOf } from '../../src/solana/addresses.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { u64 } from '../support/little-endian.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL, START_MS, thrownBy, transfer } from '../support/local-chain.ts'
import { mapped } from '../support/mapped.ts'

const someone = () => Keypair.generate().publicKey
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Opens the journal of a new folder, which ends with the test. */
function openTestJournal() {
  const journal = openJournal(Database, temporaryFolder())
  onTestFinished(() => journal.close())
  return journal
}

describe('the accounts of a journal', () => {
  it('are read as they were written, whatever their bytes, lamports, sizes and number', () => {
    const journal = openTestJournal()
    const sizes = [0, 1, 165, 1_023, 1_024, 1_025, 5_000]
    const lamports = [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]
    const written = new Map<string, ChainAccount>()
    for (let i = 0; i < 1_600; i++) {
      const account = {
        lamports: lamports[i % lamports.length] ?? 0n,
        owner: addressOf(i % 3 === 0 ? new Uint8Array(32) : randomBytes(32)),
        executable: i % 5 === 0,
        data: i % 2 === 0 ? randomBytes(sizes[i % sizes.length] ?? 0) : Buffer.alloc(sizes[i % sizes.length] ?? 0),
      }
      written.set(addressOf(i === 0 ? new Uint8Array(32) : randomBytes(32)), account)
    }
    journal.commit(() => {
      for (const [address, account] of written) journal.saveAccount(address, account)
      // What is written again moves to another place of the file.
      for (const [address, account] of [...written].slice(0, 300)) journal.saveAccount(address, account)
    })
    const read = new Map<string, ChainAccount>()
    for (const { address, owner, data, ...account } of journal.accounts()) {
      read.set(addressOf(address), { ...account, owner: addressOf(owner), data: Buffer.from(data) })
    }
    expect(read.size).toBe(written.size)
    for (const [address, { data, ...account }] of written) {
      const { data: bytes, ...others } = read.get(address)!
      expect(others).toEqual(account)
      expect(Buffer.compare(bytes, data)).toBe(0)
    }
  })

  it('may be absent', () => {
    expect([...openTestJournal().accounts()]).toEqual([])
  })
})

describe('a reopened chain', () => {
  it('has the same accounts, history, clock and blockhashes', async () => {
    const test = await openTestChain()
    const [payer, other] = [test.wallet(), test.wallet()]
    for (let i = 0; i < 20; i++) {
      test.wall.ms += 130
      test.send([transfer(payer, other.publicKey, (i % 4 === 0 ? 1000n * SOL : 1n) + BigInt(i))], [payer])
    }
    test.chain.advance(1000.5)
    const look = () => {
      const { chain, parts } = test
      const history = chain.signaturesFor(payer.publicKey.toBase58(), { limit: 100 })
      return {
        status: chain.status(),
        genesisHash: chain.genesisHash,
        blockhash: chain.latestBlockhash(),
        accounts: [...parts.index.addresses()].sort().map((address) => [address, parts.index.get(address)]),
        transactions: history.map(({ signature }) => chain.transaction(signature)),
        slots: chain.slotsWithTransactions(0, Number.MAX_SAFE_INTEGER, 100),
        fees: chain.prioritizationFees([]),
      }
    }
    const raw = test.sign([transfer(other, payer.publicKey, 7)], [other])
    const before = look()
    await test.reopen()
    const landings = before.transactions.map((landed) => test.chain.landingOf(landed?.signature ?? ''))
    expect(landings).toEqual(before.transactions.map((landed) => ({ slot: landed?.slot, err: landed?.err })))
    expect(look()).toEqual(before)
    expect(before.transactions).toHaveLength(21)
    expect(test.chain.send(raw).err).toBeNull()
  })

  it('continues in the slot in which it was closed', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const first = test.send([transfer(payer, payer.publicKey, 1)], [payer])
    await test.reopen()
    const second = test.send([transfer(payer, payer.publicKey, 2)], [payer])
    expect([second.slot, second.index]).toEqual([first.slot, first.index + 1])
  })

  it('never goes back in time, even if the wall clock did or the end was sudden', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    test.chain.advance(500)
    test.wall.ms += 10_000
    const { slot } = test.send([transfer(payer, payer.publicKey, 1)], [payer])
    test.wall.ms = START_MS - 86_400_000
    await test.reopen()
    expect(test.chain.slot()).toBe(slot)
    test.wall.ms += test.chain.slotMs()
    expect(test.chain.slot()).toBe(slot + 1)
  })

  it('recognises a message that landed, even if its payer signs it anew', async () => {
    const test = await openTestChain()
    const [payer, cosigner] = [test.wallet(), test.wallet()]
    const raw = test.sign([transfer(cosigner, payer.publicKey, SOL)], [payer, cosigner])
    expect(test.chain.send(raw).err).toBeNull()
    const again = () => resigned(raw, payer)
    expect(again().subarray(0, 65)).not.toEqual(raw.subarray(0, 65))
    const bundle = [again(), again()]
    expect(thrownBy(() => test.chain.send(again()))).toMatchObject({ err: 'AlreadyProcessed' })
    await test.reopen()
    expect(thrownBy(() => test.chain.send(again()))).toMatchObject({ err: 'AlreadyProcessed' })
    expect(test.chain.sendBundle(bundle)).toMatchObject({ landed: false, err: 'AlreadyProcessed' })
    const fresh = test.sign([transfer(cosigner, payer.publicKey, 2n * SOL)], [payer, cosigner])
    expect(test.chain.sendBundle([fresh, resigned(fresh, payer)])).toMatchObject({ landed: false })
    expect(test.chain.send(resigned(fresh, payer)).err).toBeNull()
    expect(test.chain.account(cosigner.publicKey.toBase58())?.lamports).toBe(97n * SOL)
    expect(test.chain.transactionCount()).toBe(4)
  })

  it('continues after the last transaction if the wall clock was set back before a sudden end', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    test.wall.ms += 3_600_000
    const { slot, blockTime } = test.send([transfer(payer, payer.publicKey, 1)], [payer])
    const copy = temporaryFolder()
    for (const file of ['chain.db', 'chain.db-wal']) copyFileSync(join(test.dataDir, file), join(copy, file))
    const after = await openLocalChain({ dataDir: copy, programsDir: '/nonexistent', now: () => START_MS })
    onTestFinished(() => after.close())
    expect(after.slot()).toBe(slot)
    expect(after.unixTimestamp()).toBeGreaterThanOrEqual(blockTime)
    const { blockhash } = after.latestBlockhash()
    expect(after.send(test.sign([transfer(payer, payer.publicKey, 2)], [payer], { blockhash })).slot).toBe(slot)
  })

  it('keeps accounts that were set, and keeps its original accounts closed', async () => {
    const test = await openTestChain()
    const { chain } = test
    const reserve = 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM'
    const set = someone().toBase58()
    const account = { lamports: 2n ** 63n + 5n, owner: set, data: Uint8Array.of(1, 2, 3), executable: false }
    expect(chain.account(reserve)?.lamports).toBe(SOL)
    chain.setAccount(set, account)
    chain.setAccount(reserve, { ...account, lamports: 0n })
    const passing = someone().toBase58()
    chain.setAccount(passing, account)
    chain.setAccount(passing, { ...account, lamports: 0n })
    await test.reopen()
    expect(test.chain.account(set)).toEqual(account)
    expect([...test.chain.accountsOwnedBy(set)]).toEqual([[set, account]])
    expect(test.chain.account(reserve)).toBeNull()
    expect(test.chain.account(passing)).toBeNull()
    expect(() => test.chain.setAccount(set, { ...account, lamports: 2n ** 64n })).toThrow(
      `Account ${set}: lamports must be`,
    )
    expect(() => test.chain.setAccount('nobody', account)).toThrow('"nobody" is not an address')
    expect(test.chain.account(set)).toEqual(account)
  })

  it('runs a program that was deployed by transactions', async () => {
    const test = await openTestChain()
    const payer = test.wallet(1000n * SOL)
    const elf = Buffer.from(test.chain.account(MEMO)!.data)
    const [buffer, program] = [Keypair.generate(), Keypair.generate()]
    const [programData] = PublicKey.findProgramAddressSync([program.publicKey.toBuffer()], UPGRADEABLE_LOADER)
    const key = (pubkey: PublicKey, flags = '') => ({
      pubkey,
      isSigner: flags.includes('s'),
      isWritable: flags.includes('w'),
    })
    const loader = (keys: TransactionInstruction['keys'], ...data: Buffer[]) =>
      new TransactionInstruction({ programId: UPGRADEABLE_LOADER, keys, data: Buffer.concat(data) })
    const create = (account: Keypair, space: number) =>
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        space,
        lamports: Number(test.chain.minimumBalance(space)),
        programId: UPGRADEABLE_LOADER,
      })
    const landed = (instructions: TransactionInstruction[], signers: Keypair[]) => {
      expect(test.send(instructions, signers).err).toBeNull()
    }

    landed(
      [create(buffer, 37 + elf.length), loader([key(buffer.publicKey, 'w'), key(payer.publicKey)], u32(0))],
      [payer, buffer],
    )
    for (let offset = 0; offset < elf.length; offset += 900) {
      const part = elf.subarray(offset, offset + 900)
      landed(
        [loader([key(buffer.publicKey, 'w'), key(payer.publicKey, 's')], u32(1), u32(offset), u64(part.length), part)],
        [payer],
      )
    }
    const deploy = loader(
      [
        key(payer.publicKey, 'sw'),
        key(programData, 'w'),
        key(program.publicKey, 'w'),
        key(buffer.publicKey, 'w'),
        key(SYSVAR_RENT_PUBKEY),
        key(SYSVAR_CLOCK_PUBKEY),
        key(SystemProgram.programId),
        key(payer.publicKey, 's'),
      ],
      u32(2),
      u64(elf.length),
    )
    landed([create(program, 36), deploy], [payer, program])
    const call = (text: string) =>
      new TransactionInstruction({ programId: program.publicKey, keys: [], data: Buffer.from(text) })
    for (const text of ['before', 'after']) {
      test.wall.ms += 800
      const { err, logs } = test.send([call(text)], [payer])
      expect([err, logs[0]]).toEqual([null, `Program ${program.publicKey.toBase58()} invoke [1]`])
      await test.reopen()
    }
    expect(test.chain.status().warnings).toEqual([])
  })
})

describe('the folder of a chain', () => {
  it('is not opened twice, and a closed chain answers nothing', async () => {
    const { chain, dataDir } = await openTestChain()
    await expect(openLocalChain({ dataDir, programsDir: '/nonexistent' })).rejects.toBeInstanceOf(ChainLockedError)
    chain.close()
    chain.close()
    expect(() => chain.send(Uint8Array.of())).toThrow()
    expect(() => chain.account(MEMO)).toThrow('The embedded chain was closed')
  })

  it('that cannot be written stops the chain before anything builds on lost data', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const { commit } = test.parts.journal
    test.parts.journal.commit = () => {
      throw new Error('database or disk is full')
    }
    const stopped = /stopped: its journal could not be written \(database or disk is full\); open it again/
    const address = payer.publicKey.toBase58()
    expect(() => test.send([transfer(payer, payer.publicKey, 1)], [payer])).toThrow(stopped)
    expect(() => test.chain.account(address)).toThrow(stopped)
    expect(() => test.chain.simulate(Uint8Array.of())).toThrow(stopped)
    test.parts.journal.commit = commit
    await test.reopen()
    expect(test.chain.account(address)?.lamports).toBe(100n * SOL)
    expect(test.chain.transactionCount()).toBe(1)
  })

  it('that cannot be written stops the chain before it answers a clock that would be lost', async () => {
    const test = await openTestChain()
    const slot = test.chain.slot()
    const { commit } = test.parts.journal
    test.parts.journal.commit = () => {
      throw new Error('database or disk is full')
    }
    expect(() => test.chain.advance(1000)).toThrow(/stopped: its journal could not be written/)
    expect(() => test.chain.latestBlockhash()).toThrow('open it again')
    const health = await createRpc(test.chain).handle('{"jsonrpc":"2.0","id":1,"method":"getHealth"}')
    expect(health).toContain('"code":-32603')
    test.parts.journal.commit = commit
    await test.reopen()
    expect(test.chain.slot()).toBe(slot)
  })

  it('of a newer release is left unchanged', async () => {
    const test = await openTestChain()
    test.chain.close()
    const db = new Database(join(test.dataDir, 'chain.db'))
    db.pragma('user_version = 99')
    db.close()
    await expect(openLocalChain({ dataDir: test.dataDir, programsDir: '/nonexistent' })).rejects.toThrow(
      'was written by a newer release (version 99)',
    )
  })
})

describe('a copy of the journal', () => {
  it('has its own name, is made once a minute unless it was fetched, and is removed with the next', async () => {
    const test = await openTestChain()
    test.wallet()
    const rpc = createRpc(test.chain)
    const ask = async (count: number) => {
      const one = { jsonrpc: '2.0', id: 1, method: 'svc_copy', params: [] }
      return JSON.parse((await rpc.handle(JSON.stringify(Array.from({ length: count }, () => one)))) ?? '[]')
    }
    const [first, ...others] = await ask(500)
    const accounts = () => {
      const copy = new Database(first.result.file, { readonly: true })
      const [row] = copy.prepare('select count(*) as n from accounts').all() as { n: number }[]
      copy.close()
      return row?.n
    }
    expect(accounts()).toBeGreaterThan(0)
    for (const { error } of others) expect(error.message).toContain('less than a minute ago')
    rmSync(first.result.file)
    const [second] = await ask(1)
    expect(second.result.file).not.toBe(first.result.file)
    await test.reopen()
    test.chain.copyJournal()
    expect(existsSync(second.result.file)).toBe(false)
  })
})

describe('the program cache', () => {
  it('may be empty: each program is listed as missing', async () => {
    const { chain } = await openTestChain()
    const { programs, warnings } = chain.status()
    expect(programs).toEqual(Object.values(PROGRAMS).map(({ id, name }) => ({ id, name, loaded: false })))
    expect(warnings).toEqual([])
  })

  it('is read with a warning for each unusable file', async () => {
    const programsDir = temporaryFolder()
    mkdirSync(join(programsDir, 'accounts'))
    const { chain } = await openTestChain()
    const elf = chain.account(MEMO)!.data
    const [good, cloned, noAccount] = mapped([someone(), someone(), someone()], (key) => key.toBase58())
    writeFileSync(join(programsDir, `${good}.so`), elf)
    writeFileSync(join(programsDir, `${PROGRAMS.dbc.id}.so`), elf.subarray(0, 1500))
    writeFileSync(join(programsDir, `${PROGRAMS.lock.id}.so`), '<html>Not found</html>')
    writeFileSync(join(programsDir, 'readme.so'), elf)
    writeFileSync(join(programsDir, 'manifest.json'), '{}')
    writeFileSync(
      join(programsDir, 'accounts', `${cloned}.json`),
      JSON.stringify({ lamports: 1_000_000, owner: good, data: 'AQID', executable: false }),
    )
    writeFileSync(join(programsDir, 'accounts', `${noAccount}.json`), '{"lamports":"many"}')

    const test = await openTestChain({ programsDir })
    const { programs, warnings } = test.chain.status()
    expect(programs.filter(({ loaded }) => loaded)).toEqual([{ id: good, name: good, loaded: true }])
    expect(warnings.map((warning) => warning.replace(programsDir, '…'))).toEqual([
      expect.stringMatching(`^…/${PROGRAMS.lock.id}.so was left out: it is not an ELF file$`),
      expect.stringMatching(`^…/${PROGRAMS.dbc.id}.so was left out: Failed to add program`),
      '…/readme.so was left out: "readme" is not an address: it has 5 bytes instead of 32',
      `…/accounts/${noAccount}.json was left out: its "lamports" must be a whole number`,
    ])
    expect([...test.chain.accountsOwnedBy(good)]).toEqual([
      [cloned, { lamports: 1_000_000n, owner: good, data: Uint8Array.of(1, 2, 3), executable: false }],
    ])
    const payer = test.wallet()
    const call = new TransactionInstruction({ programId: new PublicKey(good), keys: [], data: Buffer.from('hi') })
    expect(test.send([call], [payer]).err).toBeNull()
  })

  it('loads programs at their first use, also in a simulation', async () => {
    const programsDir = temporaryFolder()
    const { data } = (await openTestChain()).chain.account(MEMO)!
    const [simulated, executed, cut] = [someone(), someone(), someone()]
    for (const id of [simulated, executed]) writeFileSync(join(programsDir, `${id.toBase58()}.so`), data)
    writeFileSync(join(programsDir, `${cut.toBase58()}.so`), data.subarray(0, 1500))
    const test = await openTestChain({ programsDir })
    const payer = test.wallet()
    const call = (programId: PublicKey) => [
      new TransactionInstruction({ programId, keys: [], data: Buffer.from('hi') }),
    ]
    const before = test.parts.index.size
    expect(test.chain.simulate(test.sign(call(simulated), [payer])).err).toBeNull()
    expect(test.send(call(executed), [payer]).err).toBeNull()
    // Each has an account with its bytes too.
    expect(test.parts.index.size).toBe(before + 4)
    for (const id of [simulated, executed]) {
      const program = test.chain.account(id.toBase58())!
      const [bytes] = PublicKey.findProgramAddressSync([id.toBytes()], UPGRADEABLE_LOADER)
      expect(program).toMatchObject({ owner: UPGRADEABLE_LOADER.toBase58(), executable: true })
      expect(Buffer.from(test.chain.account(bytes.toBase58())!.data.subarray(45)).equals(data)).toBe(true)
    }
    expect(test.send(call(cut), [payer]).err).toEqual({ InstructionError: [0, 'UnsupportedProgramId'] })
    const reopened = await openTestChain({ programsDir })
    const listed = [...reopened.chain.accountsOwnedBy(UPGRADEABLE_LOADER.toBase58())].map(([address]) => address)
    expect(listed).toEqual(expect.arrayContaining([simulated.toBase58(), executed.toBase58()]))
  })

  it('that is filled later is used at the next opening', async () => {
    const programsDir = temporaryFolder()
    const test = await openTestChain({ programsDir })
    const program = someone()
    const payer = test.wallet()
    const call = new TransactionInstruction({ programId: program, keys: [], data: Buffer.from('hi') })
    expect(test.send([call], [payer]).err).toBe('ProgramAccountNotFound')
    test.wall.ms += test.chain.slotMs()
    writeFileSync(join(programsDir, `${program.toBase58()}.so`), test.chain.account(MEMO)!.data)
    await test.reopen()
    expect(test.send([call], [payer]).err).toBeNull()
  })

  it.skipIf(!hasProgram(PROGRAMS.distributor.id))('accepts a public program unchanged', async () => {
    const programsDir = temporaryFolder()
    const file = `${PROGRAMS.distributor.id}.so`
    copyFileSync(join(PROGRAMS_DIR, file), join(programsDir, file))
    expect(readFileSync(join(programsDir, file)).subarray(1, 4).toString()).toBe('ELF')
    const { chain } = await openTestChain({ programsDir })
    expect(chain.account(PROGRAMS.distributor.id)).toMatchObject({ executable: true })
    expect(
      chain
        .status()
        .programs.filter(({ loaded }) => loaded)
        .map(({ name }) => name),
    ).toEqual([PROGRAMS.distributor.name])
  })
})

/** The transaction with another valid signature of its payer: Ed25519 takes any nonce, and a key pair is one. */
function resigned(raw: Uint8Array, payer: Keypair): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const sha512 = (...parts: Uint8Array[]) => createHash('sha512').update(Buffer.concat(parts)).digest()
  const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
  const scalarOf = ({ secretKey }: Keypair) => {
    const bytes = sha512(secretKey.subarray(0, 32)).subarray(0, 32)
    bytes[0]! &= 248
    bytes[31] = (bytes[31]! & 63) | 64
    return number(bytes)
  }
  const nonce = Keypair.generate()
  const [r, key] = [nonce.publicKey.toBytes(), payer.publicKey.toBytes()]
  const hash = number(sha512(r, key, raw.subarray(1 + 64 * raw[0]!)))
  const s = (scalarOf(nonce) + hash * scalarOf(payer)) % order
  const changed = Uint8Array.from(raw)
  changed.set(r, 1)
  changed.set(Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(), 33)
  return changed
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
