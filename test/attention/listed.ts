/** Reads the list of what needs a person as its tests ask for it. */
import { expect } from 'vitest'
import type { AttentionItem } from '../../src/api/attention.ts'
import type { AttentionKind } from '../../src/api/attention-kinds.ts'
import type { Requester } from '../support/request.ts'

interface Served {
  request: Requester
}

export async function listed({ request }: Served, kind: AttentionKind): Promise<AttentionItem[]> {
  const { status, json, text } = await request('GET', `/v2/attention?kind=${kind}`)
  expect(status, text).toBe(200)
  return json.data
}

/** The ids of the subjects of a kind. */
export const subjectsOf = async (service: Served, kind: AttentionKind): Promise<string[]> =>
  (await listed(service, kind)).map(({ subject }) => subject.id)

/** The one item of a kind. */
export async function only(service: Served, kind: AttentionKind): Promise<AttentionItem> {
  const items = await listed(service, kind)
  expect(items).toHaveLength(1)
  return items[0]!
}
