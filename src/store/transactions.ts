/** Submitted transactions with their signed bytes. */
import { finding, insertingOnce, updating } from './records.ts'

export const insertTransaction = insertingOnce('transactions')
export const findTransaction = finding('transactions', 'signature')
export const updateTransaction = updating('transactions', 'signature')
