/** What belongs to one process: the disk of its data folder, its workers, and the secrets that it uses. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { printableLine } from '../../platform/printable.ts'
import { DAY_MS } from '../../platform/timing.ts'
import type { Config } from '../../settings/config.ts'
import { proofEnd } from '../../storage/delegation.ts'
import type { Observation } from '../../store/attention/looks.ts'
import { rotatingSubscriptions } from '../../store/webhooks/subscriptions.ts'
import { previousSecrets } from '../webhook-subscriptions/secret.ts'
import { type LookAt, type LookServices, processName } from './looks.ts'

interface ProcessServices extends LookServices {
  /** The workers of this process that have stalled, with the reason. */
  stalled?(): { worker: string; reason: string }[]
  /** Space on the disk of a folder in bytes; tests replace it. */
  measureDisk?(folder: string): Promise<{ free: number; size: number }>
}

/** A disk is filling if less than both is free: a share of it, and a number of bytes. */
const LEAST_FREE_SHARE = 0.1
const LEAST_FREE_BYTES = 5 * 1024 ** 3

const diskLook: LookAt<ProcessServices> = {
  kinds: ['disk_filling'],
  async look({ config, measureDisk = measure }) {
    const { free, size } = await measureDisk(config.dataDir)
    if (free >= LEAST_FREE_BYTES || free >= size * LEAST_FREE_SHARE) return []
    return [{ kind: 'disk_filling', subject: processName(config), facts: { free, size } }]
  },
}

async function measure(folder: string) {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, size: blocks * bsize }
}

const LONGEST_REASON = 200

const workerLook: LookAt<ProcessServices> = {
  kinds: ['worker_late'],
  look: async ({ stalled = () => [], config }) =>
    stalled().map(({ worker, reason }) => ({
      kind: 'worker_late',
      subject: `${worker}.${processName(config)}`,
      facts: { worker, reason: printableLine(reason, LONGEST_REASON) },
    })),
}

/** A certificate is renewed within this time before its end, and so is a proof. */
const RENEWED_WITHIN_MS = 14 * DAY_MS
/** The receiver's owner has to change to the new secret within this time. */
const ROTATED_WITHIN_MS = DAY_MS
const MOST_ROTATING = 100

const secretLook: LookAt<ProcessServices> = {
  kinds: ['secret_expires'],
  async look({ config, store, clock }) {
    const now = clock.now()
    // An invalid one is reported by what uses it.
    const proof = await proofEnd(config).catch(() => null)
    const named = [...certificateEnds(config), ...(proof === null ? [] : [['storage-proof', proof] as const])]
    const rotating = await rotatingSubscriptions(store.db, MOST_ROTATING)
    const overlaps = rotating.flatMap((row) => {
      const [first] = previousSecrets(row, now).toSorted((one, other) => one.until - other.until)
      return first === undefined ? [] : [[row.id, first.until] as const]
    })
    return [
      ...named.flatMap(([what, until]) => ending(what, { until, now, withinMs: RENEWED_WITHIN_MS })),
      ...overlaps.flatMap(([id, until]) => ending(id, { until, now, withinMs: ROTATED_WITHIN_MS })),
    ]
  },
}

export const PROCESS_LOOKS = [diskLook, workerLook, secretLook]

function ending(subject: string, { until, now, withinMs }: { until: number; now: number; withinMs: number }) {
  if (until - now > withinMs) return []
  const observation: Observation = {
    kind: 'secret_expires',
    subject,
    since: until - withinMs,
    facts: { expires_at: until },
  }
  return [observation]
}

/** The ends of the certificates that the settings name. A file that cannot be read is reported by what uses it. */
function certificateEnds({ values }: Config): (readonly [string, number])[] {
  return (['postgres.sslcert', 'postgres.sslrootcert'] as const).flatMap((name) => {
    try {
      const file = values[name]
      const ends =
        file === undefined ? [] : certificatesIn(readFileSync(file, 'utf8')).map(({ validTo }) => Date.parse(validTo))
      return ends.length === 0 ? [] : [[name, Math.min(...ends)] as const]
    } catch {
      return []
    }
  })
}

const MOST_CERTIFICATES = 20
const certificatesIn = (text: string): X509Certificate[] =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .slice(0, MOST_CERTIFICATES)
    .map((pem) => new X509Certificate(pem))
