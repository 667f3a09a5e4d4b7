/** Pools. */
import { finding, insertingOnce, listing, updating } from './records.ts'

export const insertPool = insertingOnce('pools')
export const findPool = finding('pools', 'address')
export const updatePool = updating('pools', 'address')
export const pagePools = listing('pools', ['status', 'type', 'creator'])
