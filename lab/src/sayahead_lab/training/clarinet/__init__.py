"""ClariNet: WaveNet teacher, IAF student."""
