/** The tasks that look at the service itself, for the list of what needs a person. */
import { processName, takeLooks } from '../../src/operations/attention/looks.ts'
import { nodeLook } from '../../src/operations/attention/node-looks.ts'
import { sendNotices } from '../../src/operations/attention/notices/send-notices.ts'
import { PROCESS_LOOKS } from '../../src/operations/attention/process-looks.ts'
import { checkRecords, recordLook, STEP_EVERY_MS } from '../../src/operations/attention/record-check.ts'
import { backupLook, programLook } from '../../src/operations/attention/stored-looks.ts'
import { walletLook } from '../../src/operations/attention/wallet-look.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import type { WorkerDefinition } from './definition.ts'

const LOOK_EVERY_MS = 30_000

/** Looks at what is the same for every daemon of the database. */
export const attentionWorker: WorkerDefinition = {
  name: 'attention',
  schedule: { everyMs: LOOK_EVERY_MS },
  leaseMs: MINUTE_MS,
  tick: (context) =>
    takeLooks(context, [walletLook, programLook, backupLook, recordLook], { observer: null, signal: context.signal }),
}

/** Sends notices of what has begun and what is over. */
export const attentionNoticesWorker: WorkerDefinition = {
  name: 'attention-notices',
  schedule: { everyMs: 10_000 },
  leaseMs: 30_000,
  tick: (context) => sendNotices(context, AbortSignal.any([context.signal, context.stopping])),
}

/** Looks at what belongs to this process: its disk, its workers, its nodes, and the secrets that it uses. */
export const processAttentionWorker: WorkerDefinition = {
  name: 'process-attention',
  schedule: { everyMs: LOOK_EVERY_MS },
  leaseMs: MINUTE_MS,
  isOfProcess: true,
  async tick(context) {
    const options = { observer: processName(context.config), signal: context.signal }
    await takeLooks(context, [...PROCESS_LOOKS, nodeLook], options)
  },
}

/** Verifies ledger, events and audit log, a part in each round. */
export const recordCheckWorker: WorkerDefinition = {
  name: 'record-check',
  schedule: { everyMs: STEP_EVERY_MS, offsetMs: 5 * MINUTE_MS },
  leaseMs: MINUTE_MS,
  // A long audit log takes a while.
  deadlineMs: 9 * MINUTE_MS,
  tick: (context) => checkRecords(context, context.signal),
}
