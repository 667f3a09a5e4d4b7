/** People who approve proposals of rules: their keys, and the texts that they sign. */
import { base58 } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import { decisionText } from '../../src/solana/decision-texts.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import type { Requester } from './request.ts'

export interface Person {
  address: string
  /** Signs the bytes of a text; base58. */
  sign(text: string): string
}

export function person({ secretKey } = Keypair.generate()): Person {
  const key = keyPairOf(secretKey.subarray(0, 32))
  return { address: key.address, sign: (text) => base58.encode(key.sign(Buffer.from(text, 'latin1'))) }
}

/** The part of a proposal that a decision names. */
export interface Decided {
  id: string
  what: string
  message_sha256: string
  expires_at: string
}

export const textOf = (
  { id, what, message_sha256, expires_at }: Decided,
  decision: 'approved' | 'rejected',
  genesis: string,
): string => decisionText(decision, { id, what, message_sha256, genesis, expires_at: Date.parse(expires_at) })

interface Served {
  request: Requester
  services: { chain: { genesisHash(): Promise<string> } }
}

export async function decide(
  { request, services }: Served,
  proposal: Decided,
  who: Person,
  { decision = 'approved', key }: { decision?: 'approved' | 'rejected'; key?: string } = {},
) {
  const signature = who.sign(textOf(proposal, decision, await services.chain.genesisHash()))
  return request('POST', `/v2/proposals/${proposal.id}/${decision === 'approved' ? 'approvals' : 'rejections'}`, {
    body: { approver: who.address, signature },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
}

/** Rules under which nothing waits. */
export const NOTHING_WAITS = {
  lamports_per_transaction: null,
  lamports_per_day: null,
  tokens: [],
  destination: false,
  authority: false,
  delegate: false,
  power: false,
  close: false,
  operations: [],
  hours: null,
}

/** Adds people, and lets the rules wait for approvals of all of them, or of `needed` out of more. */
export async function approversOf(
  { request }: Pick<Served, 'request'>,
  needed: number,
  rules: object,
  { people = needed, ...more }: { people?: number; expires_in?: number } = {},
): Promise<Person[]> {
  const approvers = Array.from({ length: people }, () => person())
  for (const [i, { address }] of approvers.entries()) {
    const { status, text } = await request('POST', '/v2/approvers', { body: { address, name: `person ${i}` } })
    if (status !== 201) throw new Error(text)
  }
  const approvals = { needed, ...more, rules: { ...NOTHING_WAITS, ...rules } }
  const { status, text } = await request('PATCH', '/v2/signer/policy', { body: { approvals } })
  if (status !== 200) throw new Error(text)
  return approvers
}
