/** Version 1 at length: thousands of messages each way against @solana/kit, and a daemon that is sent mutated bytes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeWireTransaction, MalformedTransaction } from '../../src/solana/messages.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { memo } from '../support/local-chain.ts'
import { randomOf } from '../support/random.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { largestV1, signedV1, signV1 } from '../support/version1.ts'
import { kitsReadByUs, oursReadByKit } from '../support/version1-messages.ts'

const MESSAGES = 4_000
const MUTATIONS = 600
/** V1_SEED=n mutates otherwise; a failure names the bytes. */
const SEED = Number(process.env.V1_SEED ?? 20_261_123)

describe('messages of version 1', () => {
  it(`are decoded by @solana/kit as we encode them, ${MESSAGES} of them`, () => oursReadByKit(MESSAGES))
  it(`are decoded as @solana/kit encodes them, ${MESSAGES} of them`, () => kitsReadByUs(MESSAGES))
})

describe('a daemon that is sent mutated transactions of version 1', () => {
  const payer = Keypair.generate()
  const { sign } = keyPairOf(payer.secretKey.subarray(0, 32))
  const random = randomOf(SEED)
  const dataDir = makeFolder()
  let daemon: Daemon
  let connection: Connection

  beforeAll(async () => {
    daemon = await startDaemon({ dataDir })
    const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    connection = new Connection(rpc_url, 'confirmed')
    for (let i = 0; i < 3; i++) await connection.requestAirdrop(payer.publicKey, 10 * LAMPORTS_PER_SOL + i)
  })
  afterAll(async () => {
    await daemon?.stop()
    removeFolder(dataDir)
  })

  async function bases(): Promise<Uint8Array[]> {
    const { blockhash } = await connection.getLatestBlockhash()
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })
    const parts = { payer, blockhash }
    return [
      signedV1({ ...parts, instructions: [pay] }),
      signedV1({ ...parts, instructions: [memo('hello'), pay], config: { priorityFeeLamports: 9n, heapSize: 65_536 } }),
      signedV1({ ...parts, instructions: [], config: { computeUnitLimit: null, loadedAccountsDataSizeLimit: null } }),
      signV1(largestV1({ payer: payer.publicKey, blockhash }), [payer]),
    ]
  }

  function mutated(base: Uint8Array): Buffer {
    const bytes = Buffer.from(base)
    const kind = random.below(6)
    // Counts, mask and header stand in the first bytes, where a change does most.
    for (let n = random.below(3) + (kind === 0 ? 1 : 0); n > 0; n--) {
      const at = random.chance(0.5) ? random.below(46) : random.below(bytes.length)
      bytes[at] = random.pick([0, 1, 2, 12, 13, 63, 64, 65, 127, 128, 129, 130, 255, random.below(256)])
    }
    if (kind === 1) return bytes.subarray(0, random.below(bytes.length + 1))
    if (kind === 2) return Buffer.concat([bytes, Buffer.alloc(1 + random.below(70), random.below(256))])
    const message = bytes.subarray(0, -64)
    // As other versions are written: the number of signatures first, then they, then the message.
    if (kind === 3) return Buffer.concat([Buffer.of(1), sign(message), message])
    // A message that its signer has changed fits its signature.
    return kind === 4 ? bytes : Buffer.concat([message, sign(message)])
  }

  it(`answers each of ${MUTATIONS} with an error or a result, and keeps running`, async () => {
    let current = await bases()
    const counts = { refused: 0, taken: 0 }
    for (let i = 0; i < MUTATIONS; i++) {
      if (i % 200 === 0) current = await bases()
      const bytes = mutated(random.pick(current))
      const transaction = bytes.toString('base64')
      const isRead = isReadable(bytes)
      const answers = await Promise.all([
        daemon.request('POST', '/v2/transaction-simulations', { body: { transaction } }),
        daemon.request('POST', '/v2/transactions', { body: { transaction, skip_preflight: random.chance(0.5) } }),
      ])
      const statuses = answers.map(({ status }) => status)
      expect(isRead ? [200, 400] : [400], `${transaction}: ${answers.map(({ text }) => text).join('\n')}`).toEqual(
        expect.arrayContaining(statuses),
      )
      counts[statuses[1] === 200 ? 'taken' : 'refused']++
    }
    expect(counts.taken).toBeGreaterThan(MUTATIONS / 20)
    expect(counts.refused).toBeGreaterThan(MUTATIONS / 5)
    expect(daemon.process.exitCode).toBeNull()
    expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
  })
})

function isReadable(bytes: Uint8Array): boolean {
  try {
    decodeWireTransaction(bytes)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedTransaction)
    return false
  }
}
