/** Whether `npm run test:heavy` runs: `*.sized.test.ts` are then run at their full size. */
export const isHeavy = process.env.HEAVY === 'true';
