// A part of its own, which the apps load when they need it.
export const heading = (title) => `The gates: ${title}`;
