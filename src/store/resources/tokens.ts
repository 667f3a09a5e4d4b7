/** Storage of tokens. */
import { finding, insertingOnce, listing, updating } from '../queries/records.ts'

export const insertToken = insertingOnce('tokens')
export const findToken = finding('tokens', 'mint')
export const updateToken = updating('tokens', 'mint')
export const pageTokens = listing('tokens', ['status'], { weights: { raw_json: 1, metadata_json: 1 } })
