/** An allowlist, in the soak of 50,000 entries, as Meteora's own client takes it: from the running service, and from a static host. */

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { decodeRaiseEscrow, raiseEscrowAddress } from '../../src/chain/programs/presale/index.ts'
import { CONFIRMED, commandLine } from '../cli/command-line.ts'
import { startDaemon } from '../support/daemon.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { lacksPresale } from '../support/raises.ts'
import { runs } from '../support/runs.ts'
import { ORIGIN, openService, testClock } from '../support/service.ts'
import { addressOf } from '../support/wallets.ts'

const cli = commandLine()
const ENTRIES = runs(2_000, 50_000)
const HASHES = Math.ceil(Math.log2(ENTRIES))
const walletOf = (number: number) => base58.encode(hash('sha256', `listed ${number}`, 'buffer'))

/** A raise on the chain of the command line's folder, made before its daemon runs. */
async function raiseInFolder() {
  mkdirSync(cli.dataDir, { mode: 0o700 })
  const service = await openService({ dataDir: cli.dataDir, clock: testClock(Date.now()) })
  const made = await listedRaise(
    {
      local: () => service.services.chain.local(),
      request: service.request,
      visit: (path) => service.app.fetch(new Request(`${ORIGIN}${path}`)),
    },
    // A slot may have begun in the second before, so that 30 days from now are too many for the program.
    { lasts: 86_400 * 29 },
  )
  const buyers = [made.buyer(0), made.buyer(1)]
  await service.close()
  return { id: made.id, creator: made.creator, buyers }
}

/** A server that knows nothing of raises: it answers the files of a folder. */
async function staticHost(folder: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const file = await readFile(join(folder, new URL(request.url ?? '/', 'http://host').pathname)).catch(() => null)
    response.writeHead(file === null ? 404 : 200).end(file)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.skipIf(lacksPresale !== '')(`a client of Meteora ${lacksPresale}`, () => {
  it(`buys with proofs of ${HASHES} hashes that the service and a static host answer`, {
    tags: 'sampled',
  }, async () => {
    const { id, creator, buyers } = await raiseInFolder()
    const key = cli.keypair('creator.json', creator).file
    const daemon = await startDaemon({
      dataDir: cli.dataDir,
      env: { ...cli.env, SVC_PRIORITY_FEE: 'none', SVC_PROGRAMS_DIR: PROGRAMS_DIR },
    })
    onTestFinished(() => daemon.stop())
    const { rpc_url } = JSON.parse(readFileSync(join(cli.dataDir, 'daemon.json'), 'utf8'))
    const node = new Connection(rpc_url, 'confirmed')

    const own = buyers.map(({ key: { publicKey }, round }, i) => `${publicKey.toBase58()},${700 + i},${round + 1}\n`)
    const others = Array.from(
      { length: ENTRIES - own.length },
      (_, i) => `${walletOf(i)},${1 + (i % 1_000)},${1 + (i % 2)}\n`,
    )
    const file = join(cli.home, 'allowlist.csv')
    writeFileSync(
      file,
      `wallet,cap,round\n${others.slice(0, ENTRIES / 2).join('')}${own.join('')}${others.slice(ENTRIES / 2).join('')}`,
    )
    const out = join(cli.home, 'proofs')
    const opened = await cli.json([
      ...['raises', 'open', id, '--allowlist', file, '--raw', '--url', `${daemon.url}/raise`, '--out', out, '-k', key],
    ])
    expect(opened).toMatchObject({ root_version: 0, url: `${daemon.url}/raise` })

    const { Presale, PRESALE_PROGRAM_ID } = await import('@meteora-ag/presale')
    const buy = async (buyer: Keypair, round: number) => {
      const presale = await Presale.create(node, new PublicKey(id), PRESALE_PROGRAM_ID)
      const [amount, registryIndex] = [new BN(10_000), new BN(round)]
      const transaction = await presale.deposit({ amount, owner: buyer.publicKey, registryIndex })
      transaction.sign(buyer)
      const signature = await node.sendRawTransaction(transaction.serialize())
      // A socket would connect again every second after the daemon's end, in each later file of the worker.
      await expect
        .poll(async () => (await node.getSignatureStatus(signature)).value?.confirmationStatus)
        .toEqual(CONFIRMED)
      const place = raiseEscrowAddress(id, addressOf(buyer), round)
      const account = await node.getAccountInfo(new PublicKey(place))
      return decodeRaiseEscrow(place, account && { ...account, owner: account.owner.toBase58() })
    }
    const [first, second] = buyers
    const answer = await fetch(`${daemon.url}/raise/${id}/0/${addressOf(first!.key)}`)
    expect(((await answer.json()) as { proof: unknown }).proof).toHaveLength(HASHES)
    expect(await buy(first!.key, 0)).toMatchObject({ deposited: 700n, cap: 700n })

    const host = await staticHost(out)
    const moved = await cli.json(['raises', 'open', id, '--allowlist', file, '--raw', '--url', host, '-k', key])
    expect(moved).toMatchObject({ root: opened.root, root_version: 0, url: host })
    expect(await buy(second!.key, 1)).toMatchObject({ deposited: 701n, cap: 701n })
    await expect(buy(Keypair.generate(), 0)).rejects.toThrow('Failed to fetch Merkle proof')
  })
})
