/** slow is the duration of a move on the canvas in milliseconds, as the token of that name. */
export const slow = 240;
