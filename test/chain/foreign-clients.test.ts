/** Foreign clients, unmodified, against the embedded chain as a server. */

import { create as createAsset, createCollection, fetchAsset, mplCore } from '@metaplex-foundation/mpl-core'
import {
  generateSigner,
  keypairIdentity,
  sol,
  transactionBuilder,
  lamports as umiLamports,
} from '@metaplex-foundation/umi'
import { createUmi } from '@metaplex-foundation/umi-bundle-defaults'
import {
  address,
  airdropFactory,
  appendTransactionMessageInstruction,
  assertIsSendableTransaction,
  assertIsTransactionWithBlockhashLifetime,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  createMint,
  getAccount,
  getMint,
  getOrCreateAssociatedTokenAccount,
  mintTo,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  transfer,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SendTransactionError,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localFetch } from '../../src/localnet/fetch.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { launchCurve } from '../support/curve.ts'
import { hasProgram } from '../support/programs.ts'
import { openServer } from './serving.ts'

const SYSTEM = '11111111111111111111111111111111'
const CORE = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d'
const DBC = 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'

interface ReconnectingSocket {
  setAutoReconnect(reconnects: boolean): void
  close(): void
}

let server: Awaited<ReturnType<typeof openServer>>
let connection: Connection
beforeAll(async () => {
  server = await openServer()
  connection = new Connection(server.url, 'confirmed')
})
afterAll(async () => {
  expect(server.faults).toEqual([])
  const { _rpcWebSocket: socket } = connection as unknown as { _rpcWebSocket: ReconnectingSocket }
  // Otherwise it connects again every second, in each later file of the worker.
  socket.setAutoReconnect(false)
  socket.close()
  await server.stop()
})

/** A wallet with lamports, without waiting for their confirmation. */
function wallet(sols = 10): Keypair {
  const keypair = Keypair.generate()
  server.chain.airdrop(keypair.publicKey.toBase58(), BigInt(sols) * BigInt(LAMPORTS_PER_SOL))
  return keypair
}

const transferOf = (from: Keypair, to: PublicKey, amount: number | bigint) =>
  new Transaction().add(SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports: amount }))

function once<T>(subscribe: (done: (value: T) => void) => void): Promise<T> {
  return new Promise((resolve) => subscribe(resolve))
}

describe('@solana/kit', () => {
  it('airdrops, sends and confirms over HTTP and WebSocket', async () => {
    const rpc = createSolanaRpc(server.url)
    const rpcSubscriptions = createSolanaRpcSubscriptions(server.wsUrl)
    const payer = await generateKeyPairSigner()
    const airdrop = airdropFactory({ rpc, rpcSubscriptions } as never)
    await airdrop({ recipientAddress: payer.address, lamports: lamports(2_000_000_000n), commitment: 'confirmed' })
    expect((await rpc.getBalance(payer.address, { commitment: 'confirmed' }).send()).value).toBe(2_000_000_000n)

    const { value: latest } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const recipient = (await generateKeyPairSigner()).address
    const data = new Uint8Array(12)
    new DataView(data.buffer).setUint32(0, 2, true)
    new DataView(data.buffer).setBigUint64(4, 1_000_000_000n, true)
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(payer, m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(latest, m),
      (m) =>
        appendTransactionMessageInstruction(
          {
            programAddress: address(SYSTEM),
            accounts: [
              { address: payer.address, role: 3 },
              { address: recipient, role: 1 },
            ],
            data,
          },
          m,
        ),
    )
    const signed = await signTransactionMessageWithSigners(message)
    assertIsTransactionWithBlockhashLifetime(signed)
    assertIsSendableTransaction(signed)
    const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never)
    await sendAndConfirm(signed as never, { commitment: 'confirmed' })

    const signature = getSignatureFromTransaction(signed)
    const found = await rpc
      .getTransaction(signature, { commitment: 'confirmed', encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 })
      .send()
    expect(found?.meta?.err).toBeNull()
    expect(found?.version).toBe(0)
    expect(found?.transaction.message.instructions[0]).toMatchObject({
      program: 'system',
      parsed: { type: 'transfer', info: { source: payer.address, destination: recipient, lamports: 1_000_000_000n } },
    })
    expect((await rpc.getBalance(recipient, { commitment: 'confirmed' }).send()).value).toBe(1_000_000_000n)
  })

  it('receives slots, and an account when it changes', async () => {
    const rpcSubscriptions = createSolanaRpcSubscriptions(server.wsUrl)
    const stop = new AbortController()
    const { address: watched } = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))
    const slots = await rpcSubscriptions.slotNotifications().subscribe({ abortSignal: stop.signal })
    const accounts = await rpcSubscriptions
      .accountNotifications(watched, { commitment: 'processed', encoding: 'base64' })
      .subscribe({ abortSignal: stop.signal })
    server.chain.airdrop(watched, 5_000_000n)
    for await (const notification of accounts) {
      expect(notification.value.lamports).toBe(5_000_000n)
      break
    }
    for await (const { slot, parent, root } of slots) {
      expect(parent).toBe(slot - 1n)
      expect(root).toBe(slot - (server.chain.alpenglowSlot() === null ? 32n : 1n))
      break
    }
    stop.abort()
  })

  it('reads lamports beyond 2^53 without losing one', async () => {
    const rpc = createSolanaRpc(server.url)
    const { address: rich } = await generateKeyPairSigner()
    const exact = 9_007_199_254_740_993n
    const empty = { owner: SYSTEM, data: new Uint8Array(), executable: false }
    server.chain.setAccount(rich, { ...empty, lamports: exact })
    expect((await rpc.getBalance(rich).send()).value).toBe(exact)
    expect((await rpc.getAccountInfo(rich, { encoding: 'base64' }).send()).value?.lamports).toBe(exact)
  })
})

describe('@solana/web3.js', () => {
  it('confirms a transaction over WebSocket, both before and after it is confirmed', async () => {
    const payer = wallet()
    const transaction = transferOf(payer, Keypair.generate().publicKey, LAMPORTS_PER_SOL)
    const latest = await connection.getLatestBlockhash()
    transaction.recentBlockhash = latest.blockhash
    transaction.feePayer = payer.publicKey
    transaction.sign(payer)
    const signature = await connection.sendRawTransaction(transaction.serialize())
    expect((await connection.confirmTransaction({ signature, ...latest }, 'confirmed')).value.err).toBeNull()
    expect((await connection.confirmTransaction({ signature, ...latest }, 'confirmed')).value.err).toBeNull()
    server.chain.advance(20)
    expect((await connection.confirmTransaction({ signature, ...latest }, 'finalized')).value.err).toBeNull()
  })

  it('resolves the confirmation of a transaction that failed with its error, and throws nothing', async () => {
    const payer = wallet()
    for (let n = 0; n < 10; n++) {
      const latest = await connection.getLatestBlockhash()
      const transaction = transferOf(payer, Keypair.generate().publicKey, 9_000_000_000_000 + n)
      transaction.recentBlockhash = latest.blockhash
      transaction.feePayer = payer.publicKey
      transaction.sign(payer)
      const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
      const { value } = await connection.confirmTransaction({ signature, ...latest }, 'confirmed')
      expect(value.err).toEqual({ InstructionError: [0, { Custom: 1 }] })
      const [status] = (await connection.getSignatureStatuses([signature])).value
      expect(status?.err).toEqual(value.err)
    }
  })

  it('sends and confirms, receives logs and account changes, and reads the parsed transaction', async () => {
    const payer = wallet()
    const recipient = wallet(1).publicKey
    // A subscription also hears of what landed before it and reaches its commitment later, such as the airdrops.
    const landed = await connection.getSlot('processed')
    await expect.poll(() => connection.getSlot('confirmed')).toBeGreaterThanOrEqual(landed)
    const logs = once<{ signature: string; err: unknown; logs: string[] }>((done) =>
      connection.onLogs(recipient, done, 'confirmed'),
    )
    const changed = once<number>((done) =>
      connection.onAccountChange(recipient, ({ lamports }) => done(lamports), { commitment: 'confirmed' }),
    )
    // Subscriptions are sent when the socket opens: one answered call on it means that they stand.
    await once<void>((done) => connection.onSlotChange(() => done()))
    const signature = await sendAndConfirmTransaction(connection, transferOf(payer, recipient, LAMPORTS_PER_SOL), [
      payer,
    ])
    expect(await logs).toMatchObject({
      signature,
      err: null,
      logs: [`Program ${SYSTEM} invoke [1]`, `Program ${SYSTEM} success`],
    })
    expect(await changed).toBe(2 * LAMPORTS_PER_SOL)
    const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })
    expect(parsed?.transaction.message.instructions[0]).toMatchObject({
      program: 'system',
      parsed: { type: 'transfer', info: { destination: recipient.toBase58(), lamports: LAMPORTS_PER_SOL } },
    })
    expect(parsed?.transaction.message.accountKeys.map(({ signer, writable }) => [signer, writable])).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ])
    expect(parsed?.meta?.preBalances.slice(0, 2)).toEqual([10 * LAMPORTS_PER_SOL, LAMPORTS_PER_SOL])
    expect(await connection.getSignaturesForAddress(recipient)).toHaveLength(2)
  })

  it('gets a SendTransactionError with the logs of a failed preflight', async () => {
    const payer = wallet(1)
    const failing = sendAndConfirmTransaction(
      connection,
      transferOf(payer, Keypair.generate().publicKey, 5n * 10n ** 9n),
      [payer],
    )
    const error = await failing.catch((caught) => caught)
    expect(error).toBeInstanceOf(SendTransactionError)
    expect(error.transactionError.message).toBe(
      'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    )
    expect(error.logs).toContain('Transfer: insufficient lamports 999995000, need 5000000000')
  })

  it('works in process over a fetch of its own', async () => {
    const local = new Connection('http://localnet', {
      fetch: localFetch(createRpc(server.chain)),
      commitment: 'processed',
    })
    const payer = wallet()
    const signature = await local.sendTransaction(transferOf(payer, Keypair.generate().publicKey, LAMPORTS_PER_SOL), [
      payer,
    ])
    expect((await local.getSignatureStatus(signature)).value).toMatchObject({ err: null, status: { Ok: null } })
    const accounts = await local.getProgramAccounts(TOKEN_PROGRAM_ID, { filters: [{ dataSize: 165 }] })
    expect(Array.isArray(accounts)).toBe(true)
    expect((await local.getVersion())['solana-core']).toMatch(/^\d+\.\d+\.\d+$/)
  })
})

describe.each([
  ['Token', TOKEN_PROGRAM_ID, 'spl-token'],
  ['Token-2022', TOKEN_2022_PROGRAM_ID, 'spl-token-2022'],
] as const)('@solana/spl-token with %s', (_, program, name) => {
  it('creates a mint and accounts, mints, transfers, and reads them parsed', async () => {
    const payer = wallet()
    const confirm = { commitment: 'confirmed' } as const
    const mint = await createMint(connection, payer, payer.publicKey, null, 6, undefined, confirm, program)
    const other = Keypair.generate()
    const accountOf = (owner: PublicKey) =>
      getOrCreateAssociatedTokenAccount(connection, payer, mint, owner, false, 'confirmed', confirm, program)
    const from = await accountOf(payer.publicKey)
    const to = await accountOf(other.publicKey)
    await mintTo(connection, payer, mint, from.address, payer, 1_000_000_000n, [], confirm, program)
    await transfer(connection, payer, from.address, to.address, payer, 250_000_001n, [], confirm, program)

    expect((await getMint(connection, mint, 'confirmed', program)).supply).toBe(1_000_000_000n)
    expect((await getAccount(connection, to.address, 'confirmed', program)).amount).toBe(250_000_001n)
    const { value } = await connection.getParsedTokenAccountsByOwner(other.publicKey, { programId: program })
    expect(value).toHaveLength(1)
    expect(value[0]?.account.data).toMatchObject({
      program: name,
      parsed: {
        type: 'account',
        info: {
          mint: mint.toBase58(),
          owner: other.publicKey.toBase58(),
          state: 'initialized',
          isNative: false,
          tokenAmount: { amount: '250000001', decimals: 6, uiAmount: 250.000001, uiAmountString: '250.000001' },
        },
      },
    })
    const { value: largest } = await connection.getTokenLargestAccounts(mint)
    expect(largest.map(({ amount }) => amount)).toEqual(['749999999', '250000001'])
  })
})

describe('Umi', () => {
  const umiFor = async () => {
    const umi = createUmi(connection as never).use(mplCore())
    const signer = generateSigner(umi)
    umi.use(keypairIdentity(signer))
    await umi.rpc.airdrop(signer.publicKey, sol(5), { commitment: 'confirmed' })
    return umi
  }

  it('airdrops, reads a balance and confirms a transfer', async () => {
    const umi = await umiFor()
    expect((await umi.rpc.getBalance(umi.identity.publicKey)).basisPoints).toBe(5_000_000_000n)
    const to = generateSigner(umi).publicKey
    const data = new Uint8Array(12)
    new DataView(data.buffer).setUint32(0, 2, true)
    new DataView(data.buffer).setBigUint64(4, 1_000_000_000n, true)
    const instruction = {
      programId: umi.programs.getPublicKey('splSystem', SYSTEM as never),
      keys: [
        { pubkey: umi.identity.publicKey, isSigner: true, isWritable: true },
        { pubkey: to, isSigner: false, isWritable: true },
      ],
      data,
    }
    const { result } = await transactionBuilder()
      .add({ instruction, signers: [umi.identity], bytesCreatedOnChain: 0 })
      .sendAndConfirm(umi, { confirm: { commitment: 'confirmed' } })
    expect(result.value.err).toBeNull()
    expect(await umi.rpc.getBalance(to)).toEqual(umiLamports(1_000_000_000))
  })

  it.skipIf(!hasProgram(CORE))('creates a collection and an asset (Metaplex Core)', async () => {
    const umi = await umiFor()
    const confirm = { confirm: { commitment: 'confirmed' } } as const
    const collection = generateSigner(umi)
    await createCollection(umi, { collection, name: 'Ships', uri: 'https://example.com/c' }).sendAndConfirm(
      umi,
      confirm,
    )
    const asset = generateSigner(umi)
    await createAsset(umi, {
      asset,
      collection: { publicKey: collection.publicKey } as never,
      name: 'Ship 1',
      uri: 'https://example.com/1',
    }).sendAndConfirm(umi, confirm)
    expect(await fetchAsset(umi, asset.publicKey)).toMatchObject({ name: 'Ship 1', owner: umi.identity.publicKey })
  })
})

describe('the Meteora DBC SDK', () => {
  it.skipIf(!hasProgram(DBC))('creates a config and reads it and its pools', async () => {
    const sdk = await import('@meteora-ag/dynamic-bonding-curve-sdk')
    const client = sdk.DynamicBondingCurveClient.create(connection, 'confirmed')
    const payer = wallet()
    const config = Keypair.generate()
    const curve = launchCurve(sdk)
    const transaction = await client.partner.createConfig({
      ...curve,
      config: config.publicKey,
      feeClaimer: payer.publicKey,
      leftoverReceiver: payer.publicKey,
      quoteMint: new PublicKey('So11111111111111111111111111111111111111112'),
      payer: payer.publicKey,
    })
    await sendAndConfirmTransaction(connection, transaction, [payer, config], { commitment: 'confirmed' })
    const read = await client.state.getPoolConfig(config.publicKey)
    expect(read?.feeClaimer.equals(payer.publicKey)).toBe(true)
    expect((await client.state.getPoolConfigs()).map(({ publicKey }) => publicKey.toBase58())).toContain(
      config.publicKey.toBase58(),
    )
    expect(await client.state.getPools()).toEqual([])
  })
})
