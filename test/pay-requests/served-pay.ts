/** A daemon with a public URL on the embedded chain, and a phone's wallet: the library of Solana Pay and a keypair. */
import { fetchTransaction, parseURL, type TransactionRequestURL } from '@solana/pay'
import { Connection, Keypair, type Transaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { payRequestsWorker } from '../../daemon/workers/workers.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { SOL } from '../support/wallets.ts'

export const PUBLIC_URL = 'https://pay.example/svc'

export interface ServedPay extends Served {
  connection: Connection
  /** A new wallet with SOL. */
  wallet(): Promise<Keypair>
  // biome-ignore lint/suspicious/noExplicitAny: tests state the shape of what they read.
  create(body: object): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: tests state the shape of what they read.
  get(id: string): Promise<any>
  /** Where this test reaches what the link names. */
  here(link: string): string
  /** Reads the QR code's content and fetches the transaction, as a wallet does. */
  fetch(link: string, wallet: Keypair): Promise<Transaction>
  /** Signs and sends, as a wallet does; the signature once it is confirmed. */
  send(transaction: Transaction, wallet: Keypair): Promise<string>
  /** Waits until the request is in this state. */
  // biome-ignore lint/suspicious/noExplicitAny: tests state the shape of what they read.
  until(id: string, state: string): Promise<any>
}

export async function servePay(env: Record<string, string> = {}): Promise<ServedPay> {
  const dataDir = makeSharedFolder('pay')
  const served = await serveHere(dataDir, { SVC_PUBLIC_URL: PUBLIC_URL, ...env }, [payRequestsWorker])
  const chain = await served.local()
  const connection = new Connection(served.rpcUrl, 'confirmed')
  const here = (link: string) => link.replace(PUBLIC_URL, served.url)
  const get = async (id: string) => (await served.request('GET', `/v2/pay-requests/${id}`)).json.data
  return {
    ...served,
    connection,
    here,
    get,
    async wallet() {
      const wallet = Keypair.generate()
      chain.airdrop(wallet.publicKey.toBase58(), 10n * SOL)
      return wallet
    },
    async create(body) {
      const { status, json, text } = await served.request('POST', '/v2/pay-requests', { body })
      expect(status, text).toBe(201)
      return json.data
    },
    fetch: (link, wallet) => {
      const { link: url } = parseURL(link) as TransactionRequestURL
      return fetchTransaction(connection, wallet.publicKey, here(url.href))
    },
    async send(transaction, wallet) {
      transaction.partialSign(wallet)
      return connection.sendRawTransaction(transaction.serialize())
    },
    async until(id, state) {
      for (let tries = 0; ; tries++) {
        const request = await get(id)
        if (request.state === state) return request
        expect(tries, JSON.stringify(request)).toBeLessThan(200)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    },
  }
}
