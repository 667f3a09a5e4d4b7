/** A service whose platform wallet has SOL on its embedded chain and a policy of the test's choosing. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, onTestFinished } from 'vitest'
import { makeFolder, openService, removeFolder, type Service, type ServiceOptions, temporaryFolder } from './service.ts'
import { SOL } from './wallets.ts'
/** What a memo transaction of one signature costs without a priority fee. */
export const FEE = 5_000n

export interface Limits {
  lamports_per_transaction?: string
  lamports_per_day?: string
  max_fee_lamports?: string
  destinations?: string[] | null
  programs?: string[]
  tokens?: { mint: string; per_transaction: string; per_day: string }[]
}

export const GENEROUS: Limits = { lamports_per_transaction: '1000000000', lamports_per_day: '10000000000' }

export interface PlatformService extends Service {
  wallet: Keypair
}

/** Writes a keypair file as the Solana CLI does. */
export function keypairFile(folder: string, keypair = Keypair.generate(), name = 'platform.json'): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify([...keypair.secretKey]), { mode: 0o600 })
  return file
}

type PlatformOptions = ServiceOptions & { wallet?: Keypair }

/** `limits` null leaves the policy as it is at first: nothing may leave. */
export async function startPlatform(
  limits: Limits | null = GENEROUS,
  { dataDir = temporaryFolder(), ...options }: PlatformOptions = {},
): Promise<PlatformService> {
  const service = await openPlatform(limits, { ...options, dataDir, keyFolder: temporaryFolder() })
  onTestFinished(() => service.close())
  return service
}

/** One for the tests of a file or of a describe: its first caller opens it, and it ends after the last test. */
export function sharedPlatform(
  limits: Limits | null = GENEROUS,
  options: Omit<PlatformOptions, 'dataDir'> = {},
): () => Promise<PlatformService> {
  let opened: Promise<PlatformService> | undefined
  const folders: string[] = []
  afterAll(async () => {
    await (await opened)?.close()
    opened = undefined
    for (const folder of folders.splice(0)) removeFolder(folder)
  })
  return () => {
    if (opened === undefined) {
      const [dataDir, keyFolder] = [makeFolder(), makeFolder()]
      folders.push(dataDir, keyFolder)
      opened = openPlatform(limits, { ...options, dataDir, keyFolder })
    }
    return opened
  }
}

async function openPlatform(
  limits: Limits | null,
  { settings = {}, keyFolder, ...options }: PlatformOptions & { dataDir: string; keyFolder: string },
): Promise<PlatformService> {
  const wallet = options.wallet ?? Keypair.generate()
  const service = await openService({
    ...options,
    settings: {
      signer: 'keypair',
      'signer.keypair': keypairFile(keyFolder, wallet),
      'priority-fee': 'none',
      ...settings,
    },
  })
  ;(await service.services.chain.local()).airdrop(wallet.publicKey.toBase58(), 100n * SOL)
  if (limits !== null) {
    const { status, text } = await service.request('PATCH', '/v2/signer/policy', { body: limits })
    if (status !== 200) throw new Error(text)
  }
  return { ...service, wallet }
}

/** Signs and submits a memo through the policy. */
export const submitMemo = (service: Pick<Service, 'request'>, memo = 'hello', key?: string) =>
  service.request('POST', '/v2/signer/tests', {
    body: { submit: true, memo },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
