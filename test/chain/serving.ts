/** A chain in a folder of its own, in process or served, with a clock that moves when the test says so. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalChain } from '../../src/localnet/index.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { serveLocalnet } from '../../src/localnet/server.ts'
import type { Consensus } from '../../src/solana/constants.ts'
import { PROGRAMS_DIR, TEST_CONSENSUS } from '../support/programs.ts'

export interface OpenOptions {
  /** Unix milliseconds; a clock that stands still by default. */
  now?: () => number
  consensus?: Consensus
}

const STILL = Date.UTC(2026, 0, 1)

export async function openChain({ now = () => STILL, consensus = TEST_CONSENSUS }: OpenOptions = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-localnet-'))
  const open = () => openLocalChain({ dataDir, programsDir: PROGRAMS_DIR, now, consensus })
  let chain = await open()
  return {
    get chain() {
      return chain
    },
    async reopen() {
      chain.close()
      chain = await open()
      return chain
    },
    close() {
      chain.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

interface RpcAnswer {
  id: number
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what the tests are about
  result?: any
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what the tests are about
  error?: { code: number; message: string; data?: any }
}

export async function openRpc(options: OpenOptions = {}) {
  const opened = await openChain(options)
  const rpc = createRpc(opened.chain, {
    onError(error) {
      throw error
    },
  })
  async function call(method: string, ...params: unknown[]): Promise<RpcAnswer> {
    const answer = await rpc.handle(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    return JSON.parse(answer!)
  }
  return {
    ...opened,
    chain: opened.chain,
    rpc,
    call,
    /** The result; throws the error's message. */
    async ask(method: string, ...params: unknown[]) {
      const { result, error } = await call(method, ...params)
      if (error) throw new Error(`${error.code} ${error.message}`)
      return result
    },
  }
}

/** Served on a free pair of ports, following the wall clock. */
export async function openServer() {
  const opened = await openChain({ now: Date.now })
  const faults: unknown[] = []
  const server = await serveLocalnet({ chain: opened.chain, port: 0, onError: (error) => void faults.push(error) })
  return {
    ...server,
    chain: opened.chain,
    faults,
    async stop() {
      await server.close()
      opened.close()
    },
  }
}
