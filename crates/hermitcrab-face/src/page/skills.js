/** What only a browser can do. */
export class Skills {
  /** The tools that this browser offers, by name. */
  get offers() {
    return [];
  }

  /** Whether this method is done here. */
  does() {
    return false;
  }
}
