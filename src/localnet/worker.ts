/** Entry of the worker thread that runs one embedded chain in memory, and ends with it. */
import { parentPort, workerData } from 'node:worker_threads'
import { DEFAULT_SETTINGS } from '../solana/cluster-settings.ts'
import { TransactionRefused } from '../solana/execution.ts'
import type { ThreadAnswer, ThreadCall, ThreadChainOptions } from './chain-thread.ts'
import { openLocalChain } from './index.ts'
import { createRpc } from './rpc/index.ts'
import type { LocalChain } from './types.ts'

const { programsDir, settings = DEFAULT_SETTINGS, unixSeconds } = workerData as ThreadChainOptions
// The clock does not move, so nothing depends on the duration of a run.
const now = () => unixSeconds * 1000
const opened = openLocalChain({ dataDir: null, programsDir, settings, sigVerify: false, now })
// Each call reports it.
opened.catch(() => {})

async function runCall(chain: LocalChain, call: ThreadCall): Promise<unknown> {
  switch (call.kind) {
    case 'rpc':
      return (await createRpc(chain).handle(call.body)) ?? ''
    case 'accounts':
      return call.addresses.map((address) => chain.account(address))
    case 'setAccount':
      return chain.setAccount(call.address, call.account)
    case 'send':
      return chain.send(call.raw)
    case 'advance':
      return chain.advance(call.seconds)
  }
}

async function answerTo(call: ThreadCall): Promise<ThreadAnswer> {
  try {
    return { value: await runCall(await opened, call) }
  } catch (error) {
    // Only the fields of an error of the platform cross a thread.
    if (error instanceof TransactionRefused) return { refused: { err: error.err, execution: error.execution } }
    return { failed: error instanceof Error ? error : new Error(String(error)) }
  }
}

parentPort?.on('message', async ({ id, call }: { id: number; call: ThreadCall }) => {
  parentPort?.postMessage({ id, answer: await answerTo(call) })
})
